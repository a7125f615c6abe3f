/* What stands for source_lines.c in a build without libdw. */
#include "report/command/symbolizer/source_lines.h"

/* Does this build find source lines? Not without libdw, of which these functions take the
 * place. */
bool sc_source_lines_are_known(void)
{
    return false;
}

struct sc_source_lines *sc_source_lines_open(const char *path, Elf *elf, Elf *alternate)
{
    (void)path, (void)elf, (void)alternate;
    return NULL;
}

void sc_source_lines_close(struct sc_source_lines *lines)
{
    (void)lines;
}

size_t sc_source_lines_find(struct sc_source_lines *lines, uint64_t address,
                            struct sc_source_place *places)
{
    (void)lines, (void)address, (void)places;
    return 0;
}
