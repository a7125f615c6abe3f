// expect-exit: 0
// options: report_path=report.jsonl
//
// Where the report is to be there is something already: a FIFO that nobody reads, links to a file
// of the program's, a directory, a socket. The program neither waits nor loses what is its own.
// What the library has to say of it goes nowhere here.
#include "process.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static void make_fifo(void)
{
    CHECK(mkfifo("report.jsonl", 0600));
}

static void make_link(void)
{
    CHECK(symlink("own", "report.jsonl"));
}

static void make_hard_link(void)
{
    CHECK(link("own", "report.jsonl"));
}

static void make_directory(void)
{
    CHECK(mkdir("report.jsonl", 0700));
}

static void make_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "report.jsonl"};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address));
    CHECK(listen(listener, 1));
}

static const struct {
    const char *name;
    void (*make)(void);
} places[] = {
    {"FIFO", make_fifo},           {"link", make_link},     {"hard link", make_hard_link},
    {"directory", make_directory}, {"socket", make_socket},
};

static size_t place;

static void write_own(void)
{
    FILE *own = fopen("own", "w");
    if (!own || fputs("precious", own) < 0 || fclose(own) != 0)
        _exit(4);
}

static void show_own(void)
{
    char own[64] = "";
    FILE *file = fopen("own", "r");
    printf("own: %s\n", file && fgets(own, sizeof own, file) ? own : "gone");
}

static void body(void)
{
    char folder[] = "/tmp/survival-XXXXXX";
    char command[64];
    if (!mkdtemp(folder) || chdir(folder) != 0 || !freopen("/dev/null", "w", stderr))
        _exit(4);
    write_own();
    places[place].make();
    use_cuda(places[place].name);
    show_own();
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command));
}

int main(void)
{
    for (place = 0; place < sizeof places / sizeof places[0]; place++)
        in_child(places[place].name, body, 0, true);
    return 0;
}
