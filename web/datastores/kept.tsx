import { useState } from 'react';
import type { DryRun } from '#kernel/schema';
import type { DatastoreDetail } from '#modules/datastores';
import type { Accepted } from '#modules/operations';
import { call } from '../api.ts';
import { useMay } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Notice } from '../ui/layout.tsx';
import { Ago } from '../ui/time.tsx';
import { watchOperation } from './activity.ts';
import { datastoreAt, datastoresChanged } from './reads.ts';

/** The data that a restore replaced, and the way back to it. */
export const KeptData = ({
  datastore: { project, name },
  kept,
}: {
  datastore: DatastoreDetail;
  kept: NonNullable<DatastoreDetail['kept']>;
}) => {
  const may = useMay();
  const [undoing, setUndoing] = useState(false);
  const path = datastoreAt(project, name, 'restore', 'undo');
  return (
    <>
      <Notice>
        <div className="row wrap">
          <span className="grow">
            <code>{kept.backup}</code> was restored <Ago at={kept.restored_at} />. The data of before is kept until it
            goes <Ago at={kept.until} />.
          </span>
          {may('manage_datastores') && (
            <Button slim icon="rollback" onClick={() => setUndoing(true)}>
              Swap it back
            </Button>
          )}
        </div>
      </Notice>
      {undoing && (
        <Confirm
          title="Swap the data back"
          verb="Swap it back"
          name={name}
          preview={() => call<DryRun>('POST', path, { query: { dry_run: true } })}
          run={async () => {
            const { operation_id } = await call<Accepted>('POST', path);
            watchOperation(project, name, operation_id);
            await datastoresChanged(project);
          }}
          onClose={() => setUndoing(false)}
        >
          <p>
            What was written since the restore changes place with the data of before; swapping once more brings it back.
            Apps reconnect.
          </p>
        </Confirm>
      )}
    </>
  );
};
