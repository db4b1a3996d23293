import { useState } from 'react';
import type { Service } from '#modules/services';
import { useMay } from '../session/session.ts';
import { useShortcuts } from '../shell/shortcuts.ts';
import { DeployDialog } from '../start/deploy-dialog.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { ScaleDialog } from './scale.tsx';
import { restartOf, rollbackOf } from './verbs.ts';

/** What can be done to a service, as far as the token may. */
export const ServiceActions = ({ service }: { service: Service }) => {
  const may = useMay();
  const [open, setOpen] = useState<'deploy' | 'restart' | 'rollback' | 'scale'>();
  const close = (): void => setOpen(undefined);
  const live = service.live_release !== null;
  const canDeploy = may('deploy');
  const canScale = may('scale');
  useShortcuts({
    ...(canDeploy && { d: () => setOpen('deploy') }),
    ...(canDeploy && live && service.replicas > 0 && { r: () => setOpen('restart') }),
    ...(canScale && live && { s: () => setOpen('scale') }),
  });
  const items: MenuItem[] = [
    ...(canDeploy && live && service.replicas > 0
      ? [{ label: 'Restart', icon: 'restart', onSelect: () => setOpen('restart') } as const]
      : []),
    ...(canScale && live ? [{ label: 'Scale', icon: 'scale', onSelect: () => setOpen('scale') } as const] : []),
    ...(canDeploy && service.previous_release !== null
      ? [{ label: 'Roll back to the release before', icon: 'rollback', onSelect: () => setOpen('rollback') } as const]
      : []),
  ];
  return (
    <>
      {items.length > 0 && (
        <Menu
          items={items}
          trigger={(props) => <IconButton {...props} icon="more" label="More actions" look="plain" />}
        />
      )}
      {canDeploy && (
        <Button look="primary" icon="deploy" onClick={() => setOpen('deploy')}>
          Deploy
        </Button>
      )}
      {open === 'deploy' && <DeployDialog project={service.project} service={service.name} onClose={close} />}
      {open === 'scale' && <ScaleDialog service={service} onClose={close} />}
      {open === 'restart' && (
        <Confirm title={`Restart ${service.name}`} verb="Restart" {...restartOf(service)} onClose={close} />
      )}
      {open === 'rollback' && (
        <Confirm
          title={`Roll ${service.name} back`}
          verb="Roll back"
          {...rollbackOf(service, undefined)}
          onClose={close}
        />
      )}
    </>
  );
};
