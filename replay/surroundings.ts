/** What a command needs of its process. */
export interface Surroundings {
  /** The folder of the whole project, in which the shipped extensions and the fixtures lie. */
  readonly root: string;
  /** Relative arguments are resolved against this folder. */
  readonly cwd: string;
  /** Both take a line without its end. */
  readonly stdout: (line: string) => void;
  readonly stderr: (line: string) => void;
}

/** Exit codes of the commands: all is as expected, something is not, the command line is wrong. */
export const OK = 0;
export const MISMATCH = 1;
export const USAGE = 2;
