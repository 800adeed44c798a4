"""The words that decide whether two questions that look alike are the same: small closed classes of English."""

from __future__ import annotations

NEGATIONS = frozenset(
    {"not", "no", "never", "none", "nothing", "nobody", "neither", "nor", "without", "hardly", "stop", "avoid"}
    | {"cease", "quit", "prevent", "refuse", "lack", "lacking", "except", "unless", "instead"}
)

# Each pair are opposites, or one word of a choice: a question with the one is never answered by the other's answer.
OPPOSITES: tuple[tuple[str, str], ...] = (
    ("enable", "disable"),
    ("on", "off"),
    ("add", "remove"),
    ("include", "exclude"),
    ("allow", "deny"),
    ("allow", "forbid"),
    ("allow", "block"),
    ("increase", "decrease"),
    ("raise", "lower"),
    ("open", "close"),
    ("start", "stop"),
    ("start", "end"),
    ("begin", "end"),
    ("before", "after"),
    ("with", "without"),
    ("more", "less"),
    ("most", "least"),
    ("best", "worst"),
    ("max", "min"),
    ("maximum", "minimum"),
    ("first", "last"),
    ("up", "down"),
    ("in", "out"),
    ("left", "right"),
    ("old", "new"),
    ("buy", "sell"),
    ("lock", "unlock"),
    ("install", "uninstall"),
    ("subscribe", "unsubscribe"),
    ("encode", "decode"),
    ("encrypt", "decrypt"),
    ("import", "export"),
    ("upload", "download"),
    ("send", "receive"),
    ("deposit", "withdraw"),
    ("public", "private"),
    ("legal", "illegal"),
    ("safe", "dangerous"),
    ("hot", "cold"),
    ("cheap", "expensive"),
    ("win", "lose"),
    ("gain", "lose"),
    ("push", "pull"),
    ("read", "write"),
    ("client", "server"),
    ("advantages", "disadvantages"),
    ("pros", "cons"),
    ("positive", "negative"),
    ("accept", "reject"),
    ("accept", "decline"),
    ("activate", "deactivate"),
    ("freeze", "unfreeze"),
    ("mute", "unmute"),
    ("above", "below"),
    ("over", "under"),
    ("oldest", "newest"),
    ("largest", "smallest"),
    ("biggest", "smallest"),
    ("highest", "lowest"),
    ("longest", "shortest"),
    ("male", "female"),
    ("husband", "wife"),
    ("mother", "father"),
    ("parent", "child"),
)

SCOPE_WORDS = frozenset(
    {"all", "every", "each", "only", "just", "except", "both", "either", "some", "any", "half", "most", "always"}
    | {"sometimes", "first", "second", "third", "last", "next", "previous", "oldest", "newest", "latest", "another"}
)

DATE_WORDS = frozenset(
    {"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november"}
    | {"december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "today", "tomorrow"}
    | {"yesterday", "tonight", "morning", "afternoon", "evening", "night", "weekend", "spring", "summer", "autumn"}
    | {"winter", "daily", "weekly", "monthly", "yearly", "day", "week", "month", "quarter", "year", "century"}
)

UNITS = frozenset(
    {"mile", "miles", "km", "kilometer", "kilometers", "kilometre", "kilometres", "meter", "meters", "metre", "metres"}
    | {"cm", "mm", "inch", "inches", "foot", "feet", "yard", "yards", "kg", "kilogram", "kilograms", "gram", "grams"}
    | {"pound", "pounds", "ounce", "ounces", "litre", "litres", "liter", "liters", "gallon", "gallons", "celsius"}
    | {"fahrenheit", "kelvin", "euro", "euros", "dollar", "dollars", "usd", "eur", "gbp", "yen", "percent", "second"}
    | {"seconds", "minute", "minutes", "hour", "hours", "days", "weeks", "months", "years", "byte", "bytes", "kb"}
    | {"mb", "gb", "tb", "bit", "bits"}
)

NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
} | {"twenty": "20", "thirty": "30", "fifty": "50", "hundred": "100", "thousand": "1000", "million": "1000000"}

# Whose question it is: "what can you do" and "what can I do" are two.
PERSONS = (
    frozenset({"i", "me", "my", "mine", "myself"}),
    frozenset({"you", "your", "yours", "yourself"}),
    frozenset({"he", "him", "his"}),
    frozenset({"she", "her", "hers"}),
    frozenset({"we", "us", "our", "ours"}),
    frozenset({"they", "them", "their", "theirs"}),
)

# What stands between two things whose order matters: "miles to km", "from Rome to Paris", "is A larger than B".
DIRECTIONS = frozenset(
    {"to", "from", "into", "than", "by", "of", "over", "for", "versus", "vs", "after", "before", "on"}
)

FUNCTION_WORDS = frozenset(
    {"a", "an", "the", "is", "are", "was", "were", "be", "been", "am", "do", "does", "did", "can", "could", "will"}
    | {"would", "should", "shall", "may", "might", "must", "have", "has", "had", "of", "to", "in", "on", "at", "for"}
    | {"by", "with", "from", "as", "and", "or", "but", "if", "then", "that", "this", "these", "those", "it", "its"}
    | {"there", "here", "so", "please", "tell", "me", "i", "you", "my", "your", "we", "us", "our", "what", "which"}
    | {"who", "whom", "whose", "when", "where", "why", "how", "about", "into", "up", "out", "get", "s", "know", "want"}
    | {"need", "like", "way", "let", "give", "hello", "hi", "hey", "thanks", "thank", "also", "exactly", "really"}
)
