import { useQuery } from '@tanstack/react-query';
import type { Comparison } from '#modules/releases';
import { ErrorLine } from '../ui/error-card.tsx';
import { SkeletonLines } from '../ui/layout.tsx';
import { differencesOf } from './comparison.ts';
import { comparisonRead, type Compared } from './reads.ts';

/** What changes from one release to another, field by field. */
export const Difference = (compared: Compared) => {
  const { data, error } = useQuery(comparisonRead(compared));
  if (data === undefined) return error === null ? <SkeletonLines lines={2} /> : <ErrorLine error={error} />;
  return <DifferenceList comparison={data} label={`From ${compared.against} to ${compared.release}`} />;
};

export const DifferenceList = ({ comparison, label }: { comparison: Comparison; label: string }) => {
  const { env } = comparison;
  const differences = differencesOf(comparison);
  const names = [
    ...(env?.added ?? []).map((name) => ({ name, added: true })),
    ...(env?.removed ?? []).map((name) => ({ name, added: false })),
  ];
  if (differences.length === 0 && names.length === 0) return <p className="quiet">Nothing differs but the time.</p>;
  return (
    <dl className="differences" aria-label={label}>
      {differences.map(({ label: what, from, to }) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>
            {from !== null && <del>{from}</del>} <span aria-hidden="true">→</span>{' '}
            {to === null ? <span className="faint">none</span> : <ins>{to}</ins>}
          </dd>
        </div>
      ))}
      {names.map(({ name, added }) => (
        <div key={name}>
          <dt>Variable</dt>
          <dd>{added ? <ins>+ {name}</ins> : <del>− {name}</del>}</dd>
        </div>
      ))}
    </dl>
  );
};
