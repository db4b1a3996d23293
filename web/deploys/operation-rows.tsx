import { Link } from 'wouter';
import type { Operation } from '#modules/operations';
import { to } from '../locations.ts';
import { preload } from '../routes.tsx';
import { Status } from '../ui/status.tsx';
import { Ago, Took } from '../ui/time.tsx';
import { KIND_NAMES, statusOf } from './kinds.ts';

/** Operations as rows, each leading to its own page. */
export const OperationRows = ({ operations }: { operations: readonly Operation[] }) => (
  <ul className="operation-rows">
    {operations.map((operation) => {
      const { tone, word } = statusOf(operation);
      return (
        <li key={operation.operation_id}>
          <Link
            href={to('operation', { operation: operation.operation_id })}
            className="operation-row"
            onPointerEnter={() => preload('operation')}
          >
            <Status tone={tone}>{word}</Status>
            <span className="cut">
              <strong>{KIND_NAMES[operation.kind]}</strong>{' '}
              <span className="quiet">{operation.service ?? operation.datastore ?? operation.project}</span>
              {operation.error !== null && <span className="faint"> · {operation.error.message}</span>}
            </span>
            <span className="small quiet">
              {operation.started_at !== null && <Took from={operation.started_at} to={operation.finished_at} />}
            </span>
            <span className="small quiet end">
              <Ago at={operation.created_at} />
            </span>
          </Link>
        </li>
      );
    })}
  </ul>
);
