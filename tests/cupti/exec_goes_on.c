// run: BY=execl -> #run=2 #hazard=2 exit_status=0
// run: BY=execlp -> #run=2 #hazard=2
// run: BY=execle -> #run=2 #hazard=2
// run: BY=execv -> #run=2 #hazard=2
// run: BY=execl strict=1 -> #run=2 #hazard=2 exit=66
// run: BY=execl stacks=none -> #run=2 #hazard=2
// run: BY=nothing -> #run=1 #hazard=1
// run: BY=failure -> #run=1 #hazard=1 exit_status=0
// run: BY=abort -> #run=1 #hazard=1 exit=-6
/* What was found is on disk when the program is replaced or aborts at once, and the one in its
 * place adds to the report. */
#include <errno.h>
#include <unistd.h>

#include "profiler.h"

extern char **environ;

static void race(void)
{
    void *source = malloc(1 << 20);
    CUDA(cudaHostRegister(source, 1 << 20, 0));
    CUDA(cudaMalloc(&device, 1 << 20));
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMemcpyAsync(device, source, 1 << 20, cudaMemcpyHostToDevice, stream));
    free(source);
}

int main(int argc, char **argv)
{
    static const char self[] = "/proc/self/exe";
    char *again[] = {argv[0], strdup("once"), strdup("more"), strdup("life"), NULL};
    const char *by = getenv("BY");
    race();
    if (argc > 1) {
        CHECK(argc == 4 && strcmp(argv[1], "once") == 0 && strcmp(argv[3], "life") == 0);
        return 0;
    }
    if (strcmp(by, "abort") == 0)
        abort();
    if (strcmp(by, "execl") == 0)
        execl(self, argv[0], "once", "more", "life", (char *)NULL);
    if (strcmp(by, "execlp") == 0)
        execlp(self, argv[0], "once", "more", "life", (char *)NULL);
    if (strcmp(by, "execle") == 0)
        execle(self, argv[0], "once", "more", "life", (char *)NULL, environ);
    if (strcmp(by, "execv") == 0)
        execv(self, again);
    if (strcmp(by, "failure") == 0)
        CHECK(execl("/nowhere/at/all", "all", (char *)NULL) == -1 && errno == ENOENT);
    return 0;
}
