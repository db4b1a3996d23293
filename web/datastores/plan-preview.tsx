import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { DryRun } from '#kernel/schema';
import { Plan } from '../ui/confirm.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { SkeletonLines } from '../ui/layout.tsx';

const PAUSE_MS = 250;

const useSettled = <T,>(value: T): T => {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
};

/** The plan of a form's present content, asked for anew when it rests. `body` as JSON is its key: no secrets in it. */
export const usePlan = (path: string, body: unknown, ask: () => Promise<DryRun>) => {
  const now = `${path} ${JSON.stringify(body)}`;
  const settled = useSettled(now);
  const plan = useQuery({
    queryKey: ['plan', settled],
    queryFn: ask,
    gcTime: 0,
    staleTime: 0,
    retry: false,
    enabled: settled === now,
  });
  return { ...plan, ready: plan.isSuccess && settled === now };
};

export const PlanPreview = ({ plan }: { plan: ReturnType<typeof usePlan> }) => (
  <div aria-live="polite" className="plan-preview">
    {plan.error !== null ? (
      <ErrorLine error={plan.error} />
    ) : plan.data === undefined ? (
      <SkeletonLines lines={2} />
    ) : (
      <Plan plan={plan.data} />
    )}
  </div>
);
