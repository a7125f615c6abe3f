#define _GNU_SOURCE 1
#include "report/command/watch/watch_state.h"

#include "report/command/fields.h"
#include "report/command/outfile.h"
#include "report/command/regular_file.h"
#include "report/command/say.h"
#include "report/command/watch/watch_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATE_MAX = 64 * 1024 * 1024, KEY_SIZE = 40 };

static const char mark[] = "safecopy_watch_state";

/* Writes the key of a report: a digest of how it begins, which survives a move. */
static void name(const struct sc_digest *begin, char *key)
{
    snprintf(key, KEY_SIZE, "%016" PRIx64 "%016" PRIx64, begin->words[0], begin->words[1]);
}

/* Reads how far an earlier run had come. Prints a message and returns NULL if the file is something
 * else. */
json_t *sc_watch_state_read(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    int error = path ? sc_regular_file_read(path, STATE_MAX, &text, &size) : -ENOENT;
    if (error == -ENOENT)
        return json_object();
    json_t *state = error == 0 ? json_loadb(text, size, 0, NULL) : NULL;
    free(text);
    if (error < 0)
        sc_say("cannot read %s: %s", path, sc_regular_file_error(error));
    else if (sc_field_number(state, mark) != 1)
        sc_say("%s is no state of safecopy watch, and stays as it is", path);
    else
        return state;
    json_decref(state);
    return NULL;
}

/* Returns the key of a report: its first line, as its name may change. */
struct sc_digest sc_watch_state_digest(const char *line, size_t size)
{
    struct sc_digester digester;
    sc_digest_begin_fixed(&digester);
    sc_digest_bytes(&digester, line ? line : "", line ? size : 0);
    return sc_digest_end(&digester);
}

/* Returns up to which byte of the report the server has taken it. */
uint64_t sc_watch_state_find(const json_t *state, const struct sc_digest *begin)
{
    char key[KEY_SIZE];
    name(begin, key);
    json_int_t taken = sc_field_number(json_object_get(state, "taken"), key);
    return taken > 0 ? (uint64_t)taken : 0;
}

/* Makes the state to write down: how far each report was sent. Reports without a whole first line
 * have no key yet. */
static json_t *make(const struct sc_follow *follow)
{
    json_t *taken = json_object();
    char key[KEY_SIZE];
    for (const struct sc_followed *file = follow->first; file; file = file->next) {
        if (!file->report->is_begin_known)
            continue;
        name(&file->report->begin, key);
        json_object_set_new(taken, key, json_integer((json_int_t)file->report->taken_to));
    }
    return json_pack("{s:i,s:o}", mark, 1, "taken", taken);
}

/* Writes how far all reports were taken. Returns false if it cannot be, which is said once. */
bool sc_watch_state_write(const char *path, const struct sc_follow *follow)
{
    const struct sc_outfile_place place = {.path = path};
    static bool was_told;
    struct sc_outfile file;
    if (was_told || !sc_outfile_open(&file, &place)) {
        was_told = true;
        return false;
    }
    json_t *state = make(follow);
    json_dumpf(state, file.stream, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(state);
    was_told = !sc_outfile_close(&file);
    return !was_told;
}
