// expect-exit: 0
// needs: sim
//
// Every descriptor is closed by a system call of the program's own while pages of pinned memory are
// kept off, and files of the program's take all numbers up to 300: they stay empty, no touch waits
// for ever, and the copies that follow are right.
#include "in_flight.h"
#include "raw_mask.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { NUMBERS = 300, CLOSE_RANGE = 436 };

static off_t written(void)
{
    off_t bytes = 0;
    struct stat found;
    for (int i = 3; i < NUMBERS; i++)
        if (fstat(i, &found) == 0)
            bytes += found.st_size;
    return bytes;
}

static void take_all_numbers(void)
{
    raw_call(CLOSE_RANGE, 3, ~0U, 0, 0);
    int first = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    for (int i = 3; i < NUMBERS; i++)
        if (i != first)
            dup2(first, i);
}

int main(void)
{
    setenv("SURVIVAL_PINNED", "1", 1);
    unsigned char *edge = (unsigned char *)edge_start();
    hold();
    take_all_numbers();
    edge[0]++;
    release();
    for (int i = 0; i < 20; i++) {
        hold();
        edge[0]++;
        release();
    }
    printf("%d, %ld bytes written\n", edge[0], (long)written());
    return 0;
}
