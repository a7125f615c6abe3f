/* Stacks of memory as flame graphs are drawn from: a line for each account, "frame;frame;frame 42",
 * outermost first, with bytes as the weight. They add up to what the processes hold of devices and
 * have page-locked.
 */
#include "report/command/formats/formats.h"
#include "report/command/say.h"
#include "report/command/shown_memory.h"

#include <inttypes.h>
#include <string.h>

/* Writes a frame's name. A semicolon in it would end the frame, so it becomes a comma. */
static void put_frame(FILE *out, const char *name)
{
    for (name = sc_say_plain(name); *name != '\0'; name++)
        fputc(*name == ';' ? ',' : *name, out);
}

/* Writes one account as a line of frames and a number, as flame graphs are made of. */
static void put_line(FILE *out, struct sc_model *model, const char *title,
                     const struct sc_memory_account *account, uint64_t weight)
{
    if (!account->is_own || weight == 0)
        return;
    put_frame(out, title);
    fputc(';', out);
    put_frame(out, account->place->name);
    for (size_t i = account->stack.count; i-- > 0;) {
        fputc(';', out);
        put_frame(out, sc_shown_memory_frame(&model->scratch, &account->stack.frames[i]));
    }
    fputc(';', out);
    put_frame(out, account->is_rest ? account->words : account->api);
    fprintf(out, " %" PRIu64 "\n", weight);
}

/* Writes a line for each call stack with its bytes, the format of flame graph tools: those at the
 * peak or those held now. */
static void put_all(FILE *out, struct sc_model *model, bool at_the_peak)
{
    for (size_t i = 0; i < model->reader->run_count; i++) {
        const struct sc_run *run = sc_model_run(model, i);
        const struct sc_memory memory = sc_shown_memory_of_process(model, run);
        const char *title = sc_shown_memory_title(&model->scratch, run);
        for (size_t at = 0; at < memory.account_count; at++) {
            const struct sc_memory_account *account = &memory.accounts[at];
            put_line(out, model, title, account,
                     at_the_peak ? account->peak_bytes : account->bytes);
        }
    }
}

void sc_as_collapsed(FILE *out, struct sc_model *model)
{
    put_all(out, model, false);
}

void sc_as_collapsed_peak(FILE *out, struct sc_model *model)
{
    put_all(out, model, true);
}
