/** The one agent that runs: started when it is first needed, and again after a crash, though not for ever. */

import type { Connection } from "../wire/connection.ts";
import type { Ended } from "../wire/process.ts";

export interface LinkEvents {
  connect(): Promise<Connection>;
  /** The agent has ended though nobody asked for it; whether to start it again. */
  gone(ended: Ended, again: boolean): void;
}

/** Crashes within `WINDOW` milliseconds after which it is left to the person. */
const MOST_CRASHES = 3;
const WINDOW = 60_000;

export class Link {
  readonly #events: LinkEvents;
  #connection: Promise<Connection> | undefined;
  #crashes: number[] = [];

  constructor(events: LinkEvents) {
    this.#events = events;
  }

  /** The connection, made if there is none. */
  connection(): Promise<Connection> {
    this.#connection ??= this.#connect();
    return this.#connection;
  }

  /** The connection if there is one; nothing is started for it. */
  get running(): boolean {
    return this.#connection !== undefined;
  }

  /** Ends the agent; the next use starts it anew. */
  async stop(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#crashes = [];
    await connection?.then(
      (open) => {
        open.close();
      },
      () => undefined,
    );
  }

  async #connect(): Promise<Connection> {
    const connecting = this.#events.connect();
    try {
      const connection = await connecting;
      void connection.ended.then((ended) => this.#over(connection, ended));
      return connection;
    } catch (error) {
      this.#connection = undefined;
      throw error;
    }
  }

  async #over(connection: Connection, ended: Ended): Promise<void> {
    const current = await this.#connection?.catch(() => undefined);
    if (current !== connection) return;
    this.#connection = undefined;
    const now = Date.now();
    this.#crashes = [...this.#crashes.filter((at) => now - at < WINDOW), now];
    this.#events.gone(ended, this.#crashes.length <= MOST_CRASHES);
  }
}
