/** Waits until `holds` is true; fails after `seconds`. */
export const until = async (holds: () => boolean | Promise<boolean>, seconds = 30): Promise<void> => {
  const deadline = performance.now() + seconds * 1000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`still not so after ${seconds} s: ${holds.toString()}`);
    await Bun.sleep(50);
  }
};
