import type { Service } from '#modules/services';
import { Confirm } from '../ui/confirm.tsx';
import { Difference } from './difference.tsx';
import { rollbackOf } from './verbs.ts';

interface RollbackProps {
  service: Service;
  /** Where to; the release before when omitted. */
  release?: string;
  onClose: () => void;
}

/** Asks before a service goes back, and says what that takes away and brings back. */
export const RollbackDialog = ({ service, release, onClose }: RollbackProps) => {
  const { project, name, live_release: live } = service;
  const target = release ?? service.previous_release;
  return (
    <Confirm
      title={`Roll ${name} back`}
      verb="Roll back"
      variant={target ?? ''}
      {...rollbackOf(service, release)}
      onClose={onClose}
    >
      <p className="quiet">Nothing is built; the replicas are exchanged one by one.</p>
      {target !== null && live !== null && target !== live && (
        <section className="stack tight" aria-label="What differs">
          <h3>What differs from the live release</h3>
          <Difference project={project} service={name} release={target} against={live} />
        </section>
      )}
    </Confirm>
  );
};
