import type { Connection, FieldDef, Submittable } from 'pg';
import { invalidInput } from '#kernel/errors';
import type { Cell } from '../port.ts';
import { encodeParams } from './params.ts';

export interface PortalRequest {
  text: string;
  params: readonly Cell[];
  maxRows: number;
  /** Bytes of rows that are kept. */
  maxBytes: number;
  /** Bytes from the socket beyond which the connection is cut off: what is buffered for a single huge value counts too. */
  cutOffBytes: number;
  now: () => number;
}

export interface PortalOutcome {
  /** Undefined for a statement that returns no rows. */
  fields: FieldDef[] | undefined;
  rows: (string | null)[][];
  truncated: boolean;
  /** What the server calls the completed command, such as `INSERT 0 5`; empty when it was not run to its end. */
  tag: string;
  durationMs: number;
  /** The connection was cut off, because more came than may be held. */
  cut: boolean;
}

const MAX_BATCH = 100;

/** The part of pg's connection that a query of the extended protocol needs; its declared types lag behind it. */
interface Wire {
  stream: Connection['stream'];
  once(event: string, listener: (message: { dataTypeIDs: number[] }) => void): void;
  removeListener(event: string, listener: (message: { dataTypeIDs: number[] }) => void): void;
  parse(message: { name: string; text: string; types: string[] }): void;
  describe(message: { type: 'S'; name: string }): void;
  bind(message: { values: (string | null)[] }): void;
  execute(message: { portal: string; rows: number }): void;
  flush(): void;
  sync(): void;
}

/**
 * One statement by the extended protocol (https://www.postgresql.org/docs/17/protocol-flow.html), read row by row through
 * a portal that gives a few rows at a time. `pg-cursor` does the same, but loses the rows of a batch that does not end,
 * does not tell the types of parameters, and never looks at how much is coming.
 */
export class Portal implements Submittable {
  readonly outcome: Promise<PortalOutcome>;
  private readonly request: PortalRequest;
  private readonly settle: { resolve: (outcome: PortalOutcome) => void; reject: (thrown: unknown) => void };
  private wire: Wire | undefined;
  private fields: FieldDef[] | undefined;
  private readonly rows: (string | null)[][] = [];
  private received = 0;
  private kept = 0;
  private longest = 0;
  private truncated = false;
  private tag = '';
  private started = 0;
  private ended: number | undefined;
  private failure: unknown;

  constructor(request: PortalRequest) {
    this.request = request;
    const { promise, resolve, reject } = Promise.withResolvers<PortalOutcome>();
    this.outcome = promise;
    this.settle = { resolve, reject };
  }

  submit(connection: Connection): void {
    const wire = connection as unknown as Wire;
    this.wire = wire;
    this.started = this.request.now();
    wire.stream.on('data', this.count);
    wire.once('parameterDescription', this.bind);
    wire.once('copyOutResponse', this.refuseCopy);
    wire.parse({ name: '', text: this.request.text, types: [] });
    wire.describe({ type: 'S', name: '' });
    wire.flush();
  }

  handleRowDescription(message: { fields: FieldDef[] }): void {
    this.fields = message.fields;
  }

  handleDataRow(message: { fields: (string | null)[]; length: number }): void {
    const bytes = message.length + 1;
    if (this.truncated || this.rows.length >= this.request.maxRows || this.kept + bytes > this.request.maxBytes) {
      this.truncated = true;
      return;
    }
    this.kept += bytes;
    this.longest = Math.max(this.longest, bytes);
    this.rows.push(message.fields);
  }

  handlePortalSuspended(): void {
    if (this.truncated) this.end();
    else this.execute();
  }

  handleCommandComplete(message: { text: string }): void {
    this.tag = message.text;
    this.end();
  }

  handleEmptyQuery(): void {
    this.fail(invalidInput('the statement is empty', 'send one SQL statement'));
  }

  handleCopyInResponse(): void {
    this.refuseCopy();
  }

  handleCopyData(): void {
    this.refuseCopy();
  }

  /** Called by pg for an error of the server as for a broken connection; only the first one counts. */
  handleError(thrown: unknown): void {
    this.stopListening();
    if (thrown instanceof Error && 'severity' in thrown) this.wire?.sync();
    this.settle.reject(this.failure ?? thrown);
  }

  handleReadyForQuery(): void {
    this.stopListening();
    if (this.failure === undefined) this.settle.resolve(this.result(false));
    else this.settle.reject(this.failure);
  }

  private readonly bind = (message: { dataTypeIDs: number[] }): void => {
    try {
      this.wire?.bind({ values: encodeParams(this.request.params, message.dataTypeIDs) });
    } catch (thrown) {
      this.fail(thrown);
      return;
    }
    this.execute();
  };

  /** Rows are asked for singly at first, then in batches that fit into what is left, by the longest row so far. */
  private execute(): void {
    const wanted = this.request.maxRows + 1 - this.rows.length;
    const fit = this.longest === 0 ? 1 : Math.floor((this.request.maxBytes - this.kept) / (2 * this.longest));
    this.wire?.execute({ portal: '', rows: Math.max(1, Math.min(wanted, fit, MAX_BATCH)) });
    this.wire?.flush();
  }

  /** pg has read the chunk before: so a row that it completes is counted among the rows already. */
  private readonly count = (chunk: Buffer): void => {
    this.received += chunk.length;
    if (this.received <= this.request.cutOffBytes || this.ended !== undefined) return;
    this.truncated = true;
    this.ended = this.request.now();
    this.stopListening();
    this.wire?.stream.destroy();
    this.settle.resolve(this.result(true));
  };

  private readonly refuseCopy = (): void => {
    this.failure ??= invalidInput(
      'COPY from and to the client has no place in a query',
      'use berth db tunnel and psql, or INSERT and SELECT',
    );
    this.wire?.stream.destroy();
  };

  private fail(thrown: unknown): void {
    this.failure = thrown;
    this.end();
  }

  private end(): void {
    this.ended ??= this.request.now();
    this.wire?.sync();
  }

  private result(cut: boolean): PortalOutcome {
    const { fields, rows, truncated, tag } = this;
    return { fields, rows, truncated, tag, cut, durationMs: (this.ended ?? this.request.now()) - this.started };
  }

  private stopListening(): void {
    this.wire?.stream.removeListener('data', this.count);
    this.wire?.removeListener('parameterDescription', this.bind);
    this.wire?.removeListener('copyOutResponse', this.refuseCopy);
  }
}
