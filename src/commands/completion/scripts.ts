import bash from './restaurant.bash' with { type: 'text' };
import fish from './restaurant.fish' with { type: 'text' };
import zsh from './restaurant.zsh' with { type: 'text' };

/** The script for each shell. It runs the program at each TAB, so that it fits whatever version is installed. */
export const SCRIPTS = { bash, zsh, fish };
