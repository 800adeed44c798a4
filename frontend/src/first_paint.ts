// How long after sending the first text of an answer was on the screen, by the browser's own clock.

export class FirstPaints {
  private readonly askedAt = new Map<string, number>();

  constructor() {
    // A hidden page paints nothing: what it would report is how long it was away.
    document.addEventListener("visibilitychange", () => this.askedAt.clear());
  }

  start(turn: string): void {
    if (document.visibilityState === "visible") this.askedAt.set(turn, performance.now());
  }

  isAwaited(turn: string): boolean {
    return this.askedAt.has(turn);
  }

  /** Milliseconds since the question went out, to a tenth; null unless this page asked it, and the second time. */
  take(turn: string): number | null {
    const askedAt = this.askedAt.get(turn);
    if (askedAt === undefined) return null;
    this.askedAt.delete(turn);
    return Math.round((performance.now() - askedAt) * 10) / 10;
  }

  forget(turn: string): void {
    this.askedAt.delete(turn);
  }
}
