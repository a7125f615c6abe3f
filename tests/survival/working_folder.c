// expect-exit: 0
//
// The working folder goes away under the program and the umask forbids everything: nothing can be
// written there, and the program does not hear of it.
#include "survival.h"

#include <sys/stat.h>

int main(void)
{
    char folder[] = "/tmp/survival-XXXXXX";
    char where[64];
    if (!mkdtemp(folder))
        return 4;
    SHOW(chdir(folder));
    SHOW(rmdir(folder));
    use_cuda("nowhere");
    SHOW(getcwd(where, sizeof where) == NULL);
    SHOW(errno == ENOENT);
    SHOW(chdir("/"));
    umask(0777);
    use_cuda("root");
    return 0;
}
