// expect-exit: 0
// needs: kernel (room)
//
// A program writes its title over its arguments and its environment before it uses CUDA, and what
// it was to be run with is remembered.
#include "in_flight.h"

extern char **environ;

static void set_title(char **argv)
{
    static char *nothing[] = {NULL};
    char *end = argv[0] + strlen(argv[0]);
    for (char **variable = environ; *variable; variable++)
        if (*variable + strlen(*variable) > end)
            end = *variable + strlen(*variable);
    environ = nothing;
    memset(argv[0], 0, (size_t)(end - argv[0]));
    strcpy(argv[0], "title");
}

int main(int argc, char **argv)
{
    SHOW(argc);
    set_title(argv);
    unsigned char *block = edge_start();
    hold();
    SHOW(block[0]);
    release();
    SHOW(access("safecopy.title.jsonl", F_OK));
    return 0;
}
