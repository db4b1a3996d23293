import { Dialog } from '../ui/dialog.tsx';
import { Deployer } from './deployer.tsx';

interface DeployDialogProps {
  project: string;
  service: string;
  onClose: () => void;
}

/** A new version of a service that is there. */
export const DeployDialog = ({ project, service, onClose }: DeployDialogProps) => (
  <Dialog title={`Deploy to ${service}`} onClose={onClose}>
    <Deployer project={project} service={service} />
  </Dialog>
);
