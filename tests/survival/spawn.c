// expect-exit: 0
//
// vfork and exec, posix_spawn, system and popen out of a program that uses CUDA. The library is
// preloaded into every child, which have nothing to do with CUDA.
#include "process.h"

#include <spawn.h>

int main(void)
{
    char *echo[] = {strdup("echo"), strdup("spawned"), NULL};
    pid_t child = -1;
    use_cuda("before");
    fflush(stdout);

    child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "echo vforked; exit 3", (char *)NULL);
        _exit(127);
    }
    show_end("vfork", child);

    CHECK(posix_spawnp(&child, "echo", NULL, NULL, echo, environ));
    show_end("posix_spawn", child);
    SHOW(posix_spawn(&child, "/nonexistent", NULL, NULL, echo, environ));

    fflush(stdout);
    SHOW(system("echo by the shell; exit 9"));

    char line[64] = "";
    FILE *pipe = popen("printf 'from a pipe'", "r");
    printf("read: %s\n", pipe && fgets(line, sizeof line, pipe) ? line : "nothing");
    SHOW(pclose(pipe));
    free(echo[0]);
    free(echo[1]);
    use_cuda("after");
    return 0;
}
