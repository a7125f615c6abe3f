// run: cupti=off -> cupti.state=unused
// run: strict=1 -> cupti.state=held
// run: strict=1 SIM_CUPTI=later -> cupti.state=held
// run: strict=1 FIRST=we SIM_CUPTI=later -> cupti.state=yielded
// needs: sim
/* The threads of a CUPTI that a tool uses have their creator's mask: the tool may want its signals
 * there. FIRST=we: the library has subscribed, and gone before CUPTI started its threads. */
#include "profiler.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

enum { CUPTIS = 2, MILLISECONDS = 10000 };

/* How many threads block SIGUSR2 and not SIGUSR1, as the program's one does. */
static unsigned alike(void)
{
    DIR *threads = opendir("/proc/self/task");
    unsigned count = 0;
    CHECK(threads);
    for (struct dirent *entry; (entry = readdir(threads));) {
        char path[300], line[256];
        unsigned long long mask = 0;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *status = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        while (status && fgets(line, sizeof line, status))
            sscanf(line, "SigBlk: %llx", &mask);
        if (status)
            fclose(status);
        count += (mask >> (SIGUSR2 - 1) & 1) && !(mask >> (SIGUSR1 - 1) & 1);
    }
    closedir(threads);
    return count;
}

/* The C library blocks all signals of a thread that it starts, until that runs. */
static bool are_alike(unsigned count)
{
    for (unsigned i = 0; i < MILLISECONDS; i++) {
        if (alike() == count)
            return true;
        usleep(1000);
    }
    return false;
}

int main(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    if (getenv("FIRST"))
        CHECK(cuInit(0) == CUDA_SUCCESS);
    profiler_load();
    profiler_begin();
    set_up();
    copy();
    CHECK(are_alike(1 + CUPTIS));
    profiler_end();
    return 0;
}
