/* What stands for source_lines.c in a build without libdw. */
#include "report/command/source_lines.h"

#include "report/command/say.h"

#include <stdbool.h>

struct sc_source_lines *sc_source_lines_open(const char *path, char *folders)
{
    static bool said;
    (void)path, (void)folders;
    if (!said)
        sc_say("source lines are not shown: the command was built without libdw (Debian's package "
               "is libdw-dev)");
    said = true;
    return NULL;
}

void sc_source_lines_close(struct sc_source_lines *lines)
{
    (void)lines;
}

Elf *sc_source_lines_debug_file(struct sc_source_lines *lines)
{
    (void)lines;
    return NULL;
}

size_t sc_source_lines_find(struct sc_source_lines *lines, uint64_t address,
                            struct sc_source_place *places)
{
    (void)lines, (void)address, (void)places;
    return 0;
}
