// Small pictures for buttons, drawn with the text's colour: fonts do not all have the signs.

const PATHS = {
  up: "M2 9h3v9H2zM7 9l4-7c2 0 2.500 1.500 2 3.500L12.500 8H18l-1.500 10H7z",
  down: "M2 2h3v9H2zM7 11l4 7c2 0 2.500-1.500 2-3.500L12.500 12H18L16.500 2H7z",
  pencil: "M3 14.500V17h2.500L15 7.500 12.500 5zM13.500 4L16 6.500l1-1a1.500 1.500 0 0 0-2.500-2.500z",
  bin: "M4 5h12v1.500H4zM8 3h4v1.500H8zM5.500 7.500h9L13.800 18H6.200z",
};

export type IconName = keyof typeof PATHS;

const SVG = "http://www.w3.org/2000/svg";

export function makeIcon(name: IconName): SVGSVGElement {
  const icon = document.createElementNS(SVG, "svg");
  icon.setAttribute("viewBox", "0 0 20 20");
  icon.setAttribute("class", "icon");
  icon.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  icon.append(path);
  return icon;
}
