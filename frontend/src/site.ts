// What every page has: the styles, the theme switch, the menu.

import "./styles/tokens.css";
import "./styles/base.css";

const YEAR_S = 31_536_000;

function currentTheme(): "light" | "dark" {
  const set = document.documentElement.dataset["theme"];
  if (set === "light" || set === "dark") return set;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

document.getElementById("theme")?.addEventListener("click", () => {
  const theme = currentTheme() === "dark" ? "light" : "dark";
  document.documentElement.dataset["theme"] = theme;
  // A cookie, so that the server writes the theme into the next page and nothing flashes.
  document.cookie = `theme=${theme}; path=/; max-age=${YEAR_S}; samesite=lax`;
  window.dispatchEvent(new CustomEvent("themechange"));
});

const menu = document.querySelector<HTMLDetailsElement>("details.menu");

document.addEventListener("click", (event) => {
  if (menu?.open && !menu.contains(event.target as Node)) menu.open = false;
});

menu?.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !menu.open) return;
  event.preventDefault();
  menu.open = false;
  menu.querySelector("summary")?.focus();
});
