/** What was written and not committed: kept while the page is open, through a session that ends and a new sign-in. */
export interface Draft {
  text: string;
  path: string;
  message: string;
  /** The commit that it began from. */
  head: string | null;
}

const drafts = new Map<string, Draft>();

export const keepDraft = (key: string, draft: Draft): void => void drafts.set(key, draft);
export const takeDraft = (key: string): Draft | undefined => drafts.get(key);
export const dropDraft = (key: string): void => void drafts.delete(key);
