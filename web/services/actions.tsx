import type { Service } from '#modules/services';
import { useSearchChange } from '../data/search.ts';
import { useMay } from '../session/session.ts';
import { useShortcuts } from '../shell/shortcuts.ts';
import { DeployDialog } from '../start/deploy-dialog.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { RollbackDialog } from './rollback.tsx';
import { ScaleDialog } from './scale.tsx';
import { SERVICE_ACTIONS, type ServiceAction } from './service-actions.ts';
import { restartOf } from './verbs.ts';

/** What can be done to a service, as far as the token may. Each has an address, `?do=restart`, so that the palette reaches it. */
export const ServiceActions = ({ service }: { service: Service }) => {
  const may = useMay();
  const [search, change] = useSearchChange();
  const offered = SERVICE_ACTIONS.filter(({ capability, fits }) => may(capability) && fits(service));
  const open = offered.find(({ name }) => name === search.get('do'))?.name;
  const show = (name: ServiceAction['name'] | undefined): void => change({ do: name });
  const close = (): void => show(undefined);
  useShortcuts(Object.fromEntries(offered.map(({ key, name }) => [key, () => show(name)])));
  const items = offered
    .filter(({ name }) => name !== 'deploy')
    .map(({ name, label, icon }): MenuItem => ({ label, icon, onSelect: () => show(name) }));
  return (
    <>
      {items.length > 0 && (
        <Menu
          items={items}
          trigger={(props) => <IconButton {...props} icon="more" label="More actions" look="plain" />}
        />
      )}
      {may('deploy') && (
        <Button look="primary" icon="deploy" onClick={() => show('deploy')}>
          Deploy
        </Button>
      )}
      {open === 'deploy' && <DeployDialog project={service.project} service={service.name} onClose={close} />}
      {open === 'scale' && <ScaleDialog service={service} onClose={close} />}
      {open === 'restart' && (
        <Confirm title={`Restart ${service.name}`} verb="Restart" {...restartOf(service)} onClose={close} />
      )}
      {open === 'rollback' && <RollbackDialog service={service} onClose={close} />}
    </>
  );
};
