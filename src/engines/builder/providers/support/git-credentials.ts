/** How git hosts take a token in the address of a repository, and the variables that people keep it in. */
const HOSTS: { host: string; user: string; variables: string[] }[] = [
  { host: 'github.com', user: 'x-access-token', variables: ['GITHUB_TOKEN', 'GH_TOKEN'] },
  { host: 'gitlab.com', user: 'oauth2', variables: ['GITLAB_TOKEN'] },
  { host: 'bitbucket.org', user: 'x-token-auth', variables: ['BITBUCKET_TOKEN'] },
];

export interface GitCredentials {
  /** Variables of the project that the install step must see. */
  variables: string[];
  /** A shell command that hands the tokens to git by its environment, so that no layer has them; none without tokens. */
  commands: string[];
}

/** Lets git read private repositories over https with the tokens among the project's variables. */
export const gitCredentials = (projectEnv: Record<string, string>): GitCredentials => {
  const found = HOSTS.flatMap(({ host, user, variables }) => {
    const variable = variables.find((name) => Object.hasOwn(projectEnv, name));
    return variable === undefined ? [] : [{ host, user, variable }];
  });
  const settings = found.flatMap(({ host, user, variable }, index) => [
    `GIT_CONFIG_KEY_${index}="url.https://${user}:$${variable}@${host}/.insteadOf"`,
    `GIT_CONFIG_VALUE_${index}=https://${host}/`,
  ]);
  return {
    variables: found.map(({ variable }) => variable),
    commands: found.length === 0 ? [] : [`export GIT_CONFIG_COUNT=${found.length} ${settings.join(' ')}`],
  };
};
