import { useQuery } from '@tanstack/react-query';
import { useEffect, useReducer, useState } from 'react';
import type { LiveEvent } from '#modules/live';
import type { Phase } from '#modules/operations';
import { keepTold, queries } from '../data/client.ts';
import { operationRead } from '../data/reads.ts';
import { follow, newest } from '../live.ts';
import { PHASE_NAMES } from './kinds.ts';
import { LogModel, type LogEntry } from './log-model.ts';

export interface PhaseMark {
  seq: number;
  phase: Phase;
  ts: string;
  message: string;
}

/** What the page knows of an operation as it goes on. */
export interface OperationView {
  log: LogModel;
  phases: readonly PhaseMark[];
  /** Whether everything up to the end has come. */
  done: boolean;
}

/** Reads an operation, and follows its phases and log from the start. */
export const useOperation = (id: string) => {
  const read = useQuery(operationRead(id));
  const [view] = useState<{ log: LogModel; phases: PhaseMark[]; done: boolean }>(() => ({
    log: new LogModel(),
    phases: [],
    done: false,
  }));
  const [, renew] = useReducer((count: number) => count + 1, 0);
  useEffect(
    () =>
      follow(`operation:${id}`, {
        events: (events) => {
          take(view, events);
          const operation = newest(events, 'operation')?.operation;
          if (operation !== undefined) keepTold(['operation', id], operation);
          if (view.done) void queries.invalidateQueries({ queryKey: ['operation', id] });
          renew();
        },
      }),
    [id, view],
  );
  return { ...read, view: view as OperationView, renew };
};

const take = (view: { log: LogModel; phases: PhaseMark[]; done: boolean }, events: readonly LiveEvent[]): void => {
  for (const event of events) {
    if (event.kind === 'lines') view.log.add(event.lines as LogEntry[]);
    if (event.kind === 'done') view.done = true;
    if (event.kind !== 'phase' || view.phases.some(({ seq }) => seq === event.phase.seq)) continue;
    const { seq, phase, message } = event.phase;
    view.phases.push(event.phase);
    view.log.phase(seq, phase, `${PHASE_NAMES[phase]}${message === '' ? '' : `: ${message}`}`);
  }
};
