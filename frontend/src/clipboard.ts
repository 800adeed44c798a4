// Copying, with the button itself telling how it went.

const TOLD_MS = 1_500;

export async function copyText(text: string, button: HTMLElement): Promise<void> {
  const label = button.textContent;
  button.textContent = (await wasCopied(text)) ? "Copied" : "Not allowed";
  window.setTimeout(() => (button.textContent = label), TOLD_MS);
}

async function wasCopied(text: string): Promise<boolean> {
  // Missing on pages that came over plain HTTP from another machine.
  if (!navigator.clipboard) return copyBySelection(text);
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (error) {
    if (error instanceof DOMException) return false;
    throw error;
  }
}

function copyBySelection(text: string): boolean {
  const field = document.createElement("textarea");
  field.className = "visually-hidden";
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}
