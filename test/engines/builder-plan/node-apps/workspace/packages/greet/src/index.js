import colors from 'picocolors';

export const greet = (name) => (colors === undefined ? '' : `from ${name}`);
