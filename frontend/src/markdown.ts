// Model text to HTML: Markdown without HTML of its own, highlighted code, and one sanitiser after it all.

import DOMPurify from "dompurify";
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import MarkdownIt from "markdown-it";

import { make } from "./dom";

const LANGUAGES = {
  bash,
  c,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

// Highlighting is for reading: a block as long as this is not read, and would hold the page up.
const HIGHLIGHT_MAX_CHARACTERS = 20_000;
// An answer longer than this is shown as plain text. It is twice what the largest route may say; if it is all one table,
// Chromium is held up by it for 0.3 s.
const MARKDOWN_MAX_CHARACTERS = 30_000;
// Deeper nesting than this is an attack or an accident.
const MAX_NESTING = 20;

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });
Object.assign(markdown.options, { maxNesting: MAX_NESTING });
markdown.validateLink = (url) => /^(https?:|mailto:)/i.test(url.trim());

// An image would tell a foreign host that the answer was read: it becomes a link that the reader may open.
markdown.renderer.rules["image"] = (tokens, index, _options, _environment, self) => {
  const token = tokens[index]!;
  const source = token.attrGet("src") ?? "";
  const text = self.renderInlineAsText(token.children ?? [], markdown.options, {}) || source;
  return `<a class="image-link" href="${escape(source)}">${escape(text)}</a>`;
};

markdown.renderer.rules["fence"] = (tokens, index) => {
  const token = tokens[index]!;
  return codeBlock(token.content, token.info.trim().split(/\s+/, 1)[0] ?? "");
};
markdown.renderer.rules["code_block"] = (tokens, index) => codeBlock(tokens[index]!.content, "");
markdown.renderer.rules["table_open"] = () => '<div class="table-scroll" tabindex="0"><table>';
markdown.renderer.rules["table_close"] = () => "</table></div>";

function codeBlock(code: string, name: string): string {
  const language = hljs.getLanguage(name) && code.length <= HIGHLIGHT_MAX_CHARACTERS ? name : "";
  const body = language ? hljs.highlight(code, { language, ignoreIllegals: true }).value : escape(code);
  return (
    `<div class="code-block"><div class="code-head"><span>${escape(name) || "text"}</span>` +
    `<button type="button" class="copy-code">Copy</button></div>` +
    `<pre tabindex="0"><code class="hljs">${body}</code></pre></div>`
  );
}

function escape(text: string): string {
  return markdown.utils.escapeHtml(text);
}

const ALLOWED = {
  ALLOWED_TAGS: [
    ..."a b blockquote br button code del div em h1 h2 h3 h4 h5 h6 hr i li ol p pre s span strong sub sup".split(
      " ",
    ),
    ..."table tbody td th thead tr ul".split(" "),
  ],
  ALLOWED_ATTR: ["href", "class", "start", "tabindex", "type"],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  // The expression is held against every attribute that is not named here.
  ADD_URI_SAFE_ATTR: ["start", "tabindex", "type"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
};

export function isTooLongForMarkdown(text: string): boolean {
  return text.length > MARKDOWN_MAX_CHARACTERS;
}

/** Sanitised nodes: the only way from model text into the page. */
export function renderMarkdown(text: string): DocumentFragment {
  if (isTooLongForMarkdown(text)) return renderPlain(text);
  const fragment = DOMPurify.sanitize(markdown.render(text), ALLOWED);
  for (const link of fragment.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer nofollow";
    // An empty address would be this page.
    if (!link.getAttribute("href")) link.removeAttribute("href");
  }
  for (const block of fragment.querySelectorAll("p, h1, h2, h3, h4, h5, h6, li, blockquote, td, th")) {
    block.setAttribute("dir", "auto");
  }
  return fragment;
}

function renderPlain(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  fragment.append(make("div", { class: "plain", dir: "auto" }, text));
  return fragment;
}

/**
 * Where the last block of the text begins: what stands before it will not change when text is added. Found by the blocks
 * that the parser itself sees, so that a list, a fence or a table is never cut.
 */
export function lastBlockStart(text: string): number {
  const tokens = markdown.parse(text, {});
  let line = 0;
  for (const token of tokens) if (token.level === 0 && token.map && token.nesting >= 0) line = token.map[0];
  let start = 0;
  for (let index = 0; index < line; index += 1) start = text.indexOf("\n", start) + 1;
  return start;
}
