/* Any text of suppressions: the parser stays in bounds, every part of an entry lies in the text,
 * each complaint is one line of a place in the text, and what is matched comes to an end.
 */
#include "report/suppressions.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ENTRIES = 16, FRAMES = 3 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_complaint(void *context, unsigned line, unsigned column, const char *what)
{
    size_t size = *(const size_t *)context;
    require(line >= 1 && line <= size + 1 && column >= 1 && column <= size + 1);
    require(what[0] != '\0' && !strchr(what, '\n') && !strchr(what, '\x1b'));
}

static const char *word_of(void *context, unsigned frame, enum sc_frame_word word)
{
    static const char *const functions[FRAMES] = {"cudaMemcpyAsync", "_ZN5Batch4loadEv", NULL};
    (void)context;
    require(frame < FRAMES);
    return word == SC_FRAME_FUNCTION ? functions[frame]
           : word == SC_FRAME_OBJECT ? "/usr/lib/libbar.so.1"
                                     : "/home/me/script.py:step";
}

static void require_within(struct sc_part part, const char *text, size_t size)
{
    require(part.length == 0 || (part.bytes >= text && part.bytes + part.length <= text + size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sc_suppression entries[ENTRIES];
    const struct sc_suppression_stack stack = {FRAMES, word_of, NULL};
    char *text = malloc(size > 0 ? size : 1);
    require(text != NULL);
    memcpy(text, data, size);
    unsigned count = sc_suppressions_parse(text, size, 0, entries, ENTRIES, check_complaint, &size);
    require(count <= ENTRIES);
    for (unsigned i = 0; i < count; i++) {
        require(entries[i].name.length > 0 && entries[i].reason.length > 0);
        require_within(entries[i].name, text, size);
        require_within(entries[i].code, text, size);
        require_within(entries[i].reason, text, size);
        require_within(entries[i].copy, text, size);
        require_within(entries[i].event, text, size);
        sc_suppressions_covers(&entries[i], "SC101", &stack, &stack);
    }
    free(text);
    return 0;
}

#ifdef SC_FUZZ_STANDALONE
#include "tests/fuzz/standalone.h"

int main(int argc, char **argv)
{
    static const char *const seeds[] = {
        "",
        "# comment\n{\n  name: a\n  code: SC101, SC2*\n  reason: r\n}\n",
        "{\nname: b\ncode: *\nreason: r\ncopy: ... fun:*Batch* obj:*libbar* ...\n fun:main\n}\n",
        "{\nname: c\ncode: SC204\nreason: r\nexpires: 2027-02-28\nevent: py:*.py:step src:*:1\n}",
        "{\nname: d\n{\n}\n}\ncode: SC999\n expires: 1-1-1\ncopy: nothing\n",
    };
    return fuzz_main(argc, argv, seeds, sizeof seeds / sizeof seeds[0]);
}
#endif
