#include "report/command/watch/watch_makers.h"

#include "report/command/say.h"

/* Sets up what making hazards readable needs. Returns false if memory runs out or the user's rules
 * are wrong. */
bool sc_watch_makers_begin(struct sc_watch_makers *makers)
{
    *makers = (struct sc_watch_makers){
        .frames = {.with_lines = true, .symbols = sc_symbols_new(), .rules = sc_frame_rules_new()},
    };
    makers->frames.cache = &makers->cache;
    return makers->frames.symbols && makers->frames.rules &&
           sc_frame_rules_read_own(makers->frames.rules) == 0;
}

/* Frees what was made to show the last lines, so that the memory of a long watch does not grow. */
void sc_watch_makers_forget(struct sc_watch_makers *makers)
{
    sc_scratch_reset(&makers->scratch);
    sc_frames_shown_trim(&makers->cache);
    sc_say_forget();
}

void sc_watch_makers_free(struct sc_watch_makers *makers)
{
    sc_watch_makers_forget(makers);
    sc_scratch_free(&makers->scratch);
    sc_frames_shown_free(&makers->cache);
    sc_pieces_free(&makers->pieces);
    sc_builds_free(&makers->builds);
    sc_frame_rules_free(makers->frames.rules);
    sc_symbols_free(makers->frames.symbols);
}
