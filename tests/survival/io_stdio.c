// expect-exit: 0
//
// Streams that read into and write from memory beside a buffer in flight: small and large pieces,
// the end of the file, and counts of zero.
#include "in_flight.h"

#include <sys/mman.h>

static void writes(FILE *file)
{
    memset(beside.block, 'w', EDGE);
    SHOW_BESIDE(fwrite(beside.block, 1, 100, file));
    SHOW_BESIDE(fwrite(beside.block, 10, 200, file));
    SHOW_BESIDE(fwrite_unlocked(beside.block, EDGE, 1, file));
    SHOW_BESIDE(fwrite(beside.block, 0, 5, file));
    SHOW_BESIDE(fwrite(beside.block, 5, 0, file));
    setvbuf(file, NULL, _IONBF, 0);
    SHOW_BESIDE(fwrite(beside.block, 1, 1000, file));
    SHOW(ftell(file));
    SHOW(fflush(file));
}

static void reads(FILE *file)
{
    rewind(file);
    SHOW_BESIDE(fread(beside.block, 1, 100, file));
    SHOW_BESIDE(fread(beside.block, 10, 200, file));
    SHOW_BESIDE(fread_unlocked(beside.block, EDGE, 1, file));
    SHOW(beside.block[EDGE - 1]);
    SHOW_BESIDE(fread(beside.block, 1, EDGE, file));
    SHOW(ferror(file));
    SHOW_BESIDE(fread(beside.block, 3, 500, file));
    SHOW(feof(file) != 0);
    SHOW_BESIDE(fread(beside.block, 0, 5, file));
}

int main(void)
{
    edge_start();
    FILE *file = fdopen(memfd_create("stdio", 0), "w+");
    if (!file)
        return 3;
    writes(file);
    reads(file);
    fclose(file);
    return 0;
}
