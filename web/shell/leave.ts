import { asApiError } from '../api.ts';
import { signOut } from '../session/session.ts';
import { toast } from '../ui/toast.tsx';

/** Signs out, here or wherever somebody has signed in with this token. */
export const leave = (everywhere: boolean): void => {
  signOut(everywhere).catch((thrown: unknown) => toast('bad', `Not signed out: ${asApiError(thrown).message}`));
};
