import type { Operation, Phase } from '#modules/operations';
import type { Tone } from '../ui/status.tsx';

/** What an operation of a kind is called. */
export const KIND_NAMES: Record<Operation['kind'], string> = {
  deploy: 'Deploy',
  rollback: 'Rollback',
  restart: 'Restart',
  scale: 'Change',
  'env.restart': 'Restart for new variables',
  'service.delete': 'Deletion',
  'project.delete': 'Deletion of the project',
  'datastore.create': 'New datastore',
  'datastore.update': 'Change of datastore',
  'datastore.restart': 'Restart of datastore',
  'datastore.rotate': 'New credential',
  'datastore.backup': 'Backup',
  'datastore.restore': 'Restore',
  'datastore.undo_restore': 'Undoing a restore',
  'datastore.delete': 'Deletion of datastore',
};

export const PHASE_NAMES: Record<Phase, string> = {
  queued: 'Queued',
  building: 'Build',
  pushing: 'Push',
  rolling_out: 'Rollout',
  healthy: 'Live',
  rolled_back: 'Rolled back',
  failed: 'Failed',
  provisioning: 'Provisioning',
  dumping: 'Dump',
  verifying: 'Verification',
  restoring: 'Restore',
  swapping: 'Swap',
  rotating: 'Rotation',
  deleting: 'Deletion',
  ready: 'Ready',
};

/** What the state of an operation looks like, and is called. */
export const statusOf = ({
  status,
  phase,
  error,
}: Pick<Operation, 'status' | 'phase' | 'error'>): { tone: Tone; word: string } => {
  if (status === 'queued') return { tone: 'idle', word: 'Queued' };
  if (status === 'running') return { tone: 'busy', word: PHASE_NAMES[phase] };
  if (status === 'succeeded') return { tone: 'ok', word: 'Succeeded' };
  if (phase === 'rolled_back') return { tone: 'bad', word: 'Rolled back' };
  return isCanceled(error) ? { tone: 'warn', word: 'Canceled' } : { tone: 'bad', word: 'Failed' };
};

export const isCanceled = (error: Operation['error']): boolean =>
  error?.code === 'CONFLICT' && /cancel/i.test(error.message);

export const isOpen = ({ status }: Pick<Operation, 'status'>): boolean => status === 'queued' || status === 'running';
