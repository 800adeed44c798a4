// The page's JSON over HTTP.

import type { ConversationData } from "./transcript";

export type ConversationSummary = { id: string; title: string; updated_at: string };

/** An answer that is no success; the message is a sentence for a person. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function call<T>(method: string, url: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRFToken"] = readCookie("csrftoken");
  const init: RequestInit = { method, headers, credentials: "same-origin" };
  if (body !== undefined) init.body = JSON.stringify(body);
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch {
    throw new ApiError(0, "The server cannot be reached. Check the connection and try again.");
  }
  if (response.status === 204) return undefined as T;
  const data = (await response.json().catch(() => null)) as { error?: { message: string } } | null;
  if (!response.ok)
    throw new ApiError(response.status, data?.error?.message ?? "That did not work. Try again.");
  return data as T;
}

export function readCookie(name: string): string {
  const found = document.cookie.split("; ").find((part) => part.startsWith(`${name}=`));
  return found ? decodeURIComponent(found.slice(name.length + 1)) : "";
}

export const getConversation = (id: string): Promise<ConversationData> =>
  call("GET", `/api/conversations/${id}/`);
export const renameConversation = (id: string, title: string): Promise<ConversationSummary> =>
  call("PATCH", `/api/conversations/${id}/`, { title });
export const deleteConversation = (id: string): Promise<void> => call("DELETE", `/api/conversations/${id}/`);
