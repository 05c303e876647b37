/** An extension whose state stands at module scope, for the command line's `--engine`. */

import { guard } from "./guard_variants.ts";

export default guard({ sharesState: true });
