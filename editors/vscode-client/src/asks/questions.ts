/** Questions that wait for the person: each is answered once, and what is not answered is a rejection. */

/** A question that is open. */
interface Open<T> {
  readonly sessionId: string;
  readonly settle: (answer: T) => void;
  readonly dismissed: T;
}

/** The open questions of all sessions, by their ids. */
export class Questions<T> {
  readonly #open = new Map<string, Open<T>>();
  readonly #prefix: string;
  #next = 1;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** A fresh id for a question. */
  name(): string {
    return `${this.#prefix}${this.#next++}`;
  }

  /**
   * Waits for the answer of a question.
   *
   * @param dismissed the answer when it is closed without one: on cancel, and when the agent takes it back.
   */
  ask(questionId: string, sessionId: string, dismissed: T, signal: AbortSignal): Promise<T> {
    return new Promise((resolve) => {
      const settle = (answer: T): void => {
        this.#open.delete(questionId);
        signal.removeEventListener("abort", abort);
        resolve(answer);
      };
      const abort = (): void => {
        settle(dismissed);
      };
      if (signal.aborted) {
        resolve(dismissed);
        return;
      }
      signal.addEventListener("abort", abort);
      this.#open.set(questionId, { sessionId, settle, dismissed });
    });
  }

  /** Answers a question; false when it is not open any more. */
  answer(questionId: string, answer: T): boolean {
    const open = this.#open.get(questionId);
    open?.settle(answer);
    return open !== undefined;
  }

  /** Closes the questions of a session, or of all. */
  dismiss(sessionId?: string): void {
    for (const open of [...this.#open.values()]) {
      if (sessionId === undefined || open.sessionId === sessionId) open.settle(open.dismissed);
    }
  }

  /** Whether any session waits for an answer. */
  waits(sessionId?: string): boolean {
    return [...this.#open.values()].some((open) => sessionId === undefined || open.sessionId === sessionId);
  }
}
