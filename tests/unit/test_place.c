/* Where the report may be: what may stand at its name, and what becomes of it. Each test runs in a
 * process of its own (Check forks), in a directory of its own.
 */
#include "report/file.h"
#include "report/json_lines.h"
#include "report/options.h"
#include "report/path.h"
#include "report/place.h"
#include "report/version.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/text.h"
#include "tests/emulator.h"

#define RUN_BEGINNING SC_REPORT_BEGINNING "1,\"version\":\"0.1.0\",\"command\":"
#define RUN_END ",\"rank\":null,\"driver_version\":13000,\"modules\":[]}\n"
/* A process of no host began it. */
#define RUN_LINE RUN_BEGINNING "[],\"pid\":1,\"started\":0,\"host\":\"h\"" RUN_END
#define OLD_REPORT RUN_LINE "{\"type\":\"summary\",\"hazards\":0}\n"

static struct sc_path_names names;
static const char *kept;
static char directory[] = "/tmp/safecopy-test-XXXXXX";
static char path[SC_OPTIONS_PATH_SIZE];
static char contents[1 << 16];

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
    sc_path_find_names(&names);
    snprintf(path, sizeof path, "%s/r.jsonl", directory);
}

static void tear_down(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    ck_assert_int_eq(system(command), 0);
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static const char *read_whole(const char *name)
{
    int fd = open(name, O_RDONLY | O_NOFOLLOW);
    ck_assert_msg(fd >= 0, "%s: %s", name, strerror(errno));
    ssize_t size = read(fd, contents, sizeof contents - 1);
    contents[size > 0 ? size : 0] = '\0';
    close(fd);
    return contents;
}

/* What is foreseen comes, but where a FIFO has no reader, or PATH.PID is nobody's place either. */
static void check_foreseen(int foreseen, const char *foreseen_kept, int fd)
{
    if (foreseen == -ENOSPC) /* /dev/full is opened */
        ck_assert_int_ge(fd, 0);
    else if (foreseen < 0)
        ck_assert_int_eq(fd, foreseen);
    else
        ck_assert_msg(fd >= 0 || fd == -ENXIO || foreseen == SC_PLACE_NEEDS_FOLDER, "%d", fd);
    if (fd >= 0)
        ck_assert_ptr_eq(foreseen_kept, kept);
}

/* Opens the report and writes a word into it. */
static int open_place(void)
{
    const char *foreseen_kept;
    errno = 77;
    int foreseen = sc_place_foresee(path, &names, &foreseen_kept);
    int fd = sc_place_open(path, "", &names, &kept);
    ck_assert_int_eq(errno, 77);
    check_foreseen(foreseen, foreseen_kept, fd);
    if (fd >= 0) {
        ck_assert_int_ge(fd, 3);
        ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
        ck_assert_int_eq(sc_file_write(fd, "new", 3), 0);
    }
    return fd;
}

static const char *path_apart(void)
{
    static char apart[64];
    snprintf(apart, sizeof apart, "r.jsonl.%d", (int)getpid());
    return apart;
}

/* A report of a run line alone. */
static const char *run_line(int32_t pid, uint64_t started, const char *host)
{
    static char bytes[1024];
    struct sc_text line = sc_text_in(bytes, sizeof bytes);
    sc_text_put(&line, RUN_BEGINNING "[\"\\\"pid\\\":1\"]");
    sc_json_lines_process(&line, pid, started, host);
    sc_text_put(&line, RUN_END);
    return bytes;
}

static void write_run_line(int32_t pid, uint64_t started, const char *host)
{
    write_file("r.jsonl", run_line(pid, started, host));
}

START_TEST(a_new_file_is_its_owners_alone)
{
    struct stat status;
    umask(0);
    ck_assert_int_ge(open_place(), 0);
    ck_assert_int_eq(stat("r.jsonl", &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0600);
}
END_TEST

START_TEST(an_older_report_is_replaced)
{
    write_file("r.jsonl", OLD_REPORT);
    ck_assert_int_ge(open_place(), 0);
    ck_assert_str_eq(read_whole("r.jsonl"), "new");
    ck_assert_ptr_null(kept);
}
END_TEST

static void expect_kept(const char *content, const char *words)
{
    char line[256], expected[256];
    struct sc_text text;
    ck_assert_int_ge(open_place(), 0);
    ck_assert_str_eq(read_whole("r.jsonl"), content);
    ck_assert_str_eq(read_whole(path_apart()), "new");
    ck_assert_ptr_nonnull(kept);
    text = sc_text_in(line, sizeof line);
    sc_place_put_kept(&text, path, kept);
    snprintf(
        expected, sizeof expected,
        "%s/r.jsonl %s and stays as it is: the report lies beside it, with .%d behind its name",
        directory, words, (int)getpid());
    ck_assert_str_eq(line, expected);
}

START_TEST(an_older_report_with_another_name_stays)
{
    write_file("other", OLD_REPORT);
    ck_assert_int_eq(link("other", "r.jsonl"), 0);
    expect_kept(OLD_REPORT, "has another name besides (a hard link)");
    ck_assert_str_eq(read_whole("other"), OLD_REPORT);
}
END_TEST

#define NO_REPORT "is no report, or not a whole one,"

/* The disk was full, or somebody has just made the file and is about to write. */
START_TEST(a_report_that_is_cut_stays)
{
    char begun[] = OLD_REPORT;
    begun[_i] = '\0';
    if (_i == sizeof RUN_LINE - 1)
        return; /* a whole line */
    write_file("r.jsonl", begun);
    expect_kept(begun, NO_REPORT);
}
END_TEST

static const char *const strangers[] = {
    "old",
    "\n" OLD_REPORT,
    " " OLD_REPORT,
    "{\"type\":\"hazard\"}\n" OLD_REPORT,
    "{\"type\":\"run\",\"sche\n",
    "{\"text\":\"a data set\"}\n{\"text\":\"of two lines\"}\n",
    "{\"type\":\"run\",\"schema\":\"wandb/1\",\"loss\":[0.3,0.2]}\n",
    SC_REPORT_BEGINNING "1,\"data\":\"my thesis\"}\n",
    SC_REPORT_BEGINNING "1,\"version\":\"0.1.0\",\"command\":[]}\n",
    RUN_BEGINNING "[],\"pid\":1,\"started\":0,\"host\":\"h\"}\n",
    RUN_BEGINNING "[],\"pid\":1,\"started\":0,\"host\":\"h\",\"rank\":null,\"mine\":1}\n",
    RUN_BEGINNING "{},\"pid\":1,\"started\":0,\"host\":\"h\"" RUN_END,
    RUN_BEGINNING "[1],\"pid\":1,\"started\":0,\"host\":\"h\"" RUN_END,
    RUN_BEGINNING "[\"a\",],\"pid\":1,\"started\":0,\"host\":\"h\"" RUN_END,
    RUN_BEGINNING "[],\"started\":0,\"pid\":1,\"host\":\"h\"" RUN_END,
    RUN_BEGINNING "[],\"pid\":\"1\",\"started\":0,\"host\":\"h\"" RUN_END,
    OLD_REPORT "MY NOTES\n",
    OLD_REPORT "MY NOTES",
    OLD_REPORT "{\"note\":\"mine\"}\n",
    OLD_REPORT "{\"type\":\"summary of mine\"}\n",
    OLD_REPORT "{\"type\":\"hazard\",\"cut\n",
    OLD_REPORT "\n",
};

START_TEST(a_file_that_is_no_report_stays)
{
    write_file("r.jsonl", strangers[_i]);
    expect_kept(strangers[_i], NO_REPORT);
}
END_TEST

static const char *const reports[] = {
    RUN_LINE,
    RUN_LINE "{\"type\":\"hazard\",\"code\":\"SC101\"}\n",
    RUN_LINE RUN_LINE,
    RUN_BEGINNING "[\"a\\\"b\\\\\",\"\"],\"pid\":1,\"started\":0,\"host\":\"h\"" RUN_END,
    RUN_BEGINNING "[],\"pid\":1,\"started\":0,\"host\":\"h\",\"rank\":\"3\",\"ledger\":\"1:2\","
                  "\"driver_version\":null}\n",
};

START_TEST(a_report_without_a_summary_is_replaced)
{
    write_file("r.jsonl", reports[_i]);
    ck_assert_int_ge(open_place(), 0);
    ck_assert_str_eq(read_whole("r.jsonl"), "new");
}
END_TEST

/* Its end is looked for in pieces. */
START_TEST(a_long_last_line_is_found)
{
    enum { LONGEST = 1 << 20 };
    static char line[LONGEST + 64];
    char whole[] = RUN_LINE "{\"type\":\"postmortem\",\"words\":\"";
    size_t filled = (size_t)_i - (sizeof whole - sizeof RUN_LINE) - 3;
    memset(line, 'x', filled);
    strcpy(line + filled, "\"}\n");
    FILE *file = fopen("r.jsonl", "w");
    ck_assert_ptr_nonnull(file);
    ck_assert(fputs(whole, file) >= 0 && fputs(line, file) >= 0 && fclose(file) == 0);
    ck_assert_int_ge(open_place(), 0);
    ck_assert_int_eq(access(path_apart(), F_OK) == 0, _i > LONGEST);
}
END_TEST

/* As it is where the disk is full; what was written before an exec stays. */
START_TEST(a_report_without_a_line_is_withdrawn)
{
    struct sc_file_identity identity;
    write_file("r.jsonl", _i ? OLD_REPORT "{\"type\":\"ru" : "{\"type\":\"ru");
    int fd = open("r.jsonl", O_RDONLY);
    identity = sc_file_identify(fd);
    ck_assert_int_eq(link("r.jsonl", "other"), 0);
    sc_place_withdraw(path, &identity);
    ck_assert_int_eq(access("r.jsonl", F_OK), 0);
    ck_assert_int_eq(unlink("other"), 0);
    write_file("other", "");
    struct sc_file_identity another = sc_file_identify(open("other", O_RDONLY));
    sc_place_withdraw(path, &another);
    ck_assert_int_eq(access("r.jsonl", F_OK), 0);
    sc_place_withdraw(path, &identity);
    ck_assert_int_eq(access("r.jsonl", F_OK) == 0, _i);
}
END_TEST

START_TEST(two_files_that_are_no_reports_leave_no_place)
{
    write_file("r.jsonl", "old");
    write_file(path_apart(), "old");
    ck_assert_int_eq(open_place(), -EMEDIUMTYPE);
    ck_assert_str_eq(read_whole("r.jsonl"), "old");
    ck_assert_str_eq(read_whole(path_apart()), "old");
}
END_TEST

START_TEST(a_link_is_not_followed)
{
    write_file("other", "old");
    ck_assert_int_eq(symlink("other", "r.jsonl"), 0);
    ck_assert_int_eq(open_place(), -EMLINK);
    ck_assert_str_eq(read_whole("other"), "old");
    ck_assert_int_eq(unlink("other"), 0);
    ck_assert_int_eq(open_place(), -EMLINK);
    ck_assert_int_ne(access("other", F_OK), 0);
    ck_assert_int_gt(readlink("r.jsonl", contents, sizeof contents), 0);
}
END_TEST

START_TEST(a_folder_may_be_a_link)
{
    ck_assert_int_eq(mkdir("folder", 0700), 0);
    ck_assert_int_eq(symlink("folder", "link"), 0);
    snprintf(path, sizeof path, "%s/link/more/r.jsonl", directory);
    ck_assert_int_ge(open_place(), 0);
    ck_assert_str_eq(read_whole("folder/more/r.jsonl"), "new");
}
END_TEST

START_TEST(a_directory_stays_one)
{
    ck_assert_int_eq(mkdir("r.jsonl", 0700), 0);
    ck_assert_int_eq(open_place(), -EISDIR);
    strcat(path, "/");
    ck_assert_int_eq(open_place(), -EISDIR);
}
END_TEST

START_TEST(a_fifo_without_a_reader_is_not_waited_for)
{
    ck_assert_int_eq(mkfifo("r.jsonl", 0600), 0);
    ck_assert_int_eq(open_place(), -ENXIO);
    int reader = open("r.jsonl", O_RDONLY | O_NONBLOCK);
    ck_assert_int_ge(open_place(), 0);
    ck_assert_int_eq(read(reader, contents, sizeof contents), 3);
}
END_TEST

START_TEST(a_fifo_that_has_another_name_is_somebody_elses)
{
    ck_assert_int_eq(mkfifo("other", 0600), 0);
    int reader = open("other", O_RDONLY | O_NONBLOCK);
    ck_assert_int_ge(reader, 0);
    ck_assert_int_eq(link("other", "r.jsonl"), 0);
    ck_assert_int_eq(open_place(), -EPERM);
}
END_TEST

START_TEST(sockets_and_devices_are_not_written_to)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "r.jsonl"};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(open_place(), -ENOTSUP);
    strcpy(path, "/dev/zero");
    ck_assert_int_eq(open_place(), -ENOTSUP);
    strcpy(path, "/dev/null");
    ck_assert_int_ge(open_place(), 0);
}
END_TEST

/* ---- descriptors ---- */

static const char *const stdout_names[] = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};

START_TEST(a_file_on_stdout_is_written_where_the_program_writes)
{
    strcpy(path, stdout_names[_i]);
    int file = open("log", O_RDWR | O_CREAT, 0600);
    ck_assert_int_eq(write(file, "before,out of date", 18), 18);
    ck_assert_int_eq(lseek(file, 7, SEEK_SET), 7);
    dup2(file, STDOUT_FILENO);
    ck_assert_int_ge(open_place(), 0);
    ck_assert_int_eq(write(file, ",after", 6), 6);
    ck_assert_str_eq(read_whole("log"), "before,new,after"
                                        "te");
}
END_TEST

START_TEST(a_pipe_on_stdout_still_blocks_the_program)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[1], STDOUT_FILENO);
    strcpy(path, stdout_names[_i]);
    int fd = open_place();
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(read(ends[0], contents, sizeof contents), 3);
    ck_assert_int_ne(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    ck_assert_int_eq(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK, 0);
}
END_TEST

START_TEST(a_descriptor_must_be_fit_to_be_written_to)
{
    int ends[2];
    write_file("other", "old");
    dup2(open("other", O_RDONLY), 9);
    strcpy(path, "/dev/fd/9");
    ck_assert_int_eq(open_place(), -EBADF);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    dup2(ends[0], 9);
    ck_assert_int_eq(open_place(), -ENOTSUP);
    close(9);
    ck_assert_int_eq(open_place(), -EBADF);
}
END_TEST

/* The program's first file gets the number of what was closed before it began. */
START_TEST(a_number_that_was_not_open_at_the_start_is_the_programs)
{
    close(STDOUT_FILENO);
    sc_place_note_descriptor("strict=1:report_path=/tmp/r:report_path=/dev/stdout");
    int theirs = open("theirs", O_RDWR | O_CREAT, 0600);
    dup2(theirs, STDOUT_FILENO);
    strcpy(path, "/dev/stdout");
    ck_assert_int_eq(open_place(), -EBADF);
    dup2(theirs, STDERR_FILENO);
    strcpy(path, "/dev/stderr");
    ck_assert_int_ge(open_place(), 0);
}
END_TEST

START_TEST(a_number_that_names_another_file_than_at_the_start_is_the_programs)
{
    dup2(open("given", O_RDWR | O_CREAT, 0600), 9);
    dup2(9, STDOUT_FILENO);
    sc_place_note_descriptor("report_path=/dev/fd/9:strict=1");
    strcpy(path, "/dev/fd/9");
    ck_assert_int_ge(open_place(), 0);
    dup2(open("theirs", O_RDWR | O_CREAT, 0600), 9);
    ck_assert_int_eq(open_place(), -EBADF);
    sc_place_note_descriptor("report_path=/dev/stdout");
    dup2(9, STDOUT_FILENO);
    strcpy(path, "/dev/stdout");
    ck_assert_int_ge(open_place(), 0);
}
END_TEST

/* ---- reports ---- */

static void open_and_close(void)
{
    int fd = open_place();
    ck_assert_int_ge(fd, 0);
    close(fd);
}

START_TEST(a_report_of_this_process_goes_on)
{
    write_run_line(names.pid, names.started, names.host);
    open_and_close();
    ck_assert_ptr_nonnull(strstr(read_whole("r.jsonl"), "[]}\nnew"));
    write_run_line(names.pid, names.started + 1, names.host);
    open_and_close();
    ck_assert_str_eq(read_whole("r.jsonl"), "new");
    write_run_line(names.pid, names.started, "elsewhere");
    open_and_close();
    ck_assert_str_eq(read_whole("r.jsonl"), "new");
}
END_TEST

/* The words may lie across the pieces that are read. */
START_TEST(a_long_command_hides_no_process)
{
    static char bytes[16 * 1024];
    struct sc_text line = sc_text_in(bytes, sizeof bytes);
    sc_text_put(&line, RUN_BEGINNING "[\"");
    while (line.used < (size_t)_i)
        sc_text_char(&line, 'x');
    sc_text_put(&line, "\"]");
    sc_json_lines_process(&line, names.pid, names.started, names.host);
    sc_text_put(&line, RUN_END);
    write_file("r.jsonl", bytes);
    ck_assert_int_ge(open_place(), 0);
    ck_assert_ptr_nonnull(strstr(read_whole("r.jsonl"), "\nnew"));
}
END_TEST

/* Somebody may have written of us what we would have, where our writing does harm. */
START_TEST(a_report_with_another_name_is_left_alone)
{
    write_run_line(names.pid, names.started, names.host);
    ck_assert_int_eq(link("r.jsonl", "other"), 0);
    ck_assert_int_ge(open_place(), 0);
    ck_assert_ptr_null(strstr(read_whole("other"), "new"));
    ck_assert_str_eq(read_whole(path_apart()), "new");
}
END_TEST

START_TEST(a_report_with_another_owner_is_left_alone)
{
    if (geteuid() != 0)
        return;
    write_run_line(names.pid, names.started, names.host);
    ck_assert_int_eq(chown("r.jsonl", 65534, 65534), 0);
    ck_assert_int_ge(open_place(), 0);
    ck_assert_ptr_null(strstr(read_whole("r.jsonl"), "new"));
    ck_assert_str_eq(read_whole(path_apart()), "new");
}
END_TEST

START_TEST(only_root_replaces_what_others_own)
{
    if (geteuid() != 0)
        return;
    write_file("r.jsonl", OLD_REPORT);
    ck_assert_int_eq(chown("r.jsonl", 65534, 65534), 0);
    ck_assert_int_ge(open_place(), 0);
    ck_assert_str_eq(read_whole("r.jsonl"), "new");
    ck_assert_int_eq(chmod(".", 0777), 0);
    ck_assert_int_eq(seteuid(65534), 0);
    ck_assert_int_eq(open_place(), -EPERM);
    ck_assert_int_eq(seteuid(0), 0);
    ck_assert_str_eq(read_whole("r.jsonl"), "new");
}
END_TEST

START_TEST(the_report_of_a_living_process_is_left_alone)
{
    pid_t parent = getppid();
    write_run_line(parent, sc_path_find_start(parent), names.host);
    ck_assert_int_ge(open_place(), 0);
    ck_assert_ptr_null(strstr(read_whole("r.jsonl"), "new"));
    ck_assert_str_eq(read_whole(path_apart()), "new");
}
END_TEST

START_TEST(the_report_of_a_process_that_has_ended_is_replaced)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(read(ends[0], contents, 1) == 1 ? 0 : 1);
    uint64_t started = sc_path_find_start(child);
    ck_assert_uint_ne(started, 0);
    write_run_line(child, started, names.host);
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    siginfo_t info;
    ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    ck_assert_uint_eq(sc_path_find_start(child), 0); /* nobody has waited for it yet */
    ck_assert_int_ge(open_place(), 0);
    ck_assert_str_eq(read_whole("r.jsonl"), "new");
    waitpid(child, NULL, 0);
}
END_TEST

static void *outlive(void *argument)
{
    char byte;
    _exit(read(*(int *)argument, &byte, 1) == 1 ? 0 : 1);
}

static char state_of(pid_t process)
{
    char stat[64];
    snprintf(stat, sizeof stat, "/proc/%d/stat", (int)process);
    const char *end = strrchr(read_whole(stat), ')');
    return end ? end[2] : '?';
}

START_TEST(a_process_lives_whose_first_thread_has_ended)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, outlive, &ends[0]);
        pthread_exit(NULL);
    }
    uint64_t started = sc_path_find_start(child);
    while (state_of(child) != 'Z')
        usleep(1000);
    ck_assert_uint_ne(started, 0);
    ck_assert_uint_eq(sc_path_find_start(child), started);
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    waitpid(child, NULL, 0);
}
END_TEST

START_TEST(the_report_of_the_parent_is_left_alone)
{
    char taken[sizeof path];
    strcpy(taken, path);
    ck_assert_int_ge(sc_place_open(path, taken, &names, &kept), 0);
    ck_assert_int_ne(access("r.jsonl", F_OK), 0);
    ck_assert_int_eq(access(path_apart(), F_OK), 0);
}
END_TEST

/* Who loses a name does so to another one that has made its file, and each makes one. */
START_TEST(processes_that_come_at_once_all_get_a_file)
{
    enum { CHILDREN = 8 };
    int ends[2];
    write_file("r.jsonl", OLD_REPORT);
    ck_assert_int_eq(pipe(ends), 0);
    for (int i = 0; i < CHILDREN; i++) {
        if (fork() == 0) {
            sc_path_find_names(&names);
            close(ends[1]);
            bool woken = read(ends[0], contents, 1) == 0;
            _exit(woken && sc_place_open(path, "", &names, &kept) >= 0 ? 0 : 1);
        }
    }
    close(ends[1]);
    for (int i = 0; i < CHILDREN; i++) {
        int status;
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
}
END_TEST

/* Begins a report when `start` ends, as sc_report_open does, and lives until `stop` ends. */
static void be_one_of_many(int start, int opened, int stop)
{
    sc_path_find_names(&names);
    if (read(start, contents, 1) != 0)
        _exit(1);
    int fd = sc_place_open(path, "", &names, &kept);
    const char *line = run_line(names.pid, names.started, names.host);
    if (fd < 0 || sc_file_write(fd, line, strlen(line)) != 0)
        _exit(2);
    if (write(opened, "x", 1) != 1 || read(stop, contents, 1) != 0)
        _exit(3);
    struct stat status;
    _exit(sc_file_status(path, &status) == 0 && sc_file_is_same(fd,
                                                                &(struct sc_file_identity){
                                                                    .device = status.st_dev,
                                                                    .inode = status.st_ino,
                                                                })
              ? 0
              : 4);
}

START_TEST(who_has_a_name_keeps_it_while_others_come)
{
    enum { CHILDREN = 8 };
    int start[2], opened[2], stop[2];
    if (_i % 2)
        write_file("r.jsonl", OLD_REPORT);
    else
        unlink("r.jsonl");
    ck_assert(pipe(start) == 0 && pipe(opened) == 0 && pipe(stop) == 0);
    for (int i = 0; i < CHILDREN; i++) {
        if (fork() == 0) {
            close(start[1]);
            close(stop[1]);
            be_one_of_many(start[0], opened[1], stop[0]);
        }
    }
    close(start[1]);
    close(opened[1]);
    for (int i = 0; i < CHILDREN; i++)
        ck_assert_int_eq(read(opened[0], contents, 1), 1);
    close(stop[1]);
    for (int i = 0; i < CHILDREN; i++) {
        int status;
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
}
END_TEST

/* ---- once more ---- */

START_TEST(the_same_file_is_opened_again_and_no_other)
{
    struct sc_file_identity identity = sc_file_identify(open_place());
    int fd = sc_place_open_again(path, &identity);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(sc_file_write(fd, "er", 2), 0);
    ck_assert_str_eq(read_whole("r.jsonl"), "newer");
    ck_assert_int_eq(link("r.jsonl", "other"), 0);
    ck_assert_int_eq(sc_place_open_again(path, &identity), -EPERM);
    ck_assert_int_eq(unlink("r.jsonl"), 0);
    ck_assert_int_eq(sc_place_open_again(path, &identity), -ENOENT);
    ck_assert_int_eq(symlink("other", "r.jsonl"), 0);
    ck_assert_int_eq(sc_place_open_again(path, &identity), -EMLINK);
    ck_assert_int_eq(unlink("r.jsonl"), 0);
    write_file("r.jsonl", "old");
    ck_assert_int_eq(sc_place_open_again(path, &identity), -ENOENT);
    ck_assert_str_eq(read_whole("r.jsonl"), "old");
}
END_TEST

/* It may live in another namespace, where neither its host's name nor its number says so. */
START_TEST(a_report_that_is_open_is_left_alone)
{
    write_run_line(1, 1, _i ? "another-host" : names.host);
    int theirs = open("r.jsonl", O_WRONLY | O_APPEND);
    ck_assert(sc_file_lock(theirs));
    ck_assert_int_ge(open_place(), 0);
    ck_assert_ptr_null(strstr(read_whole("r.jsonl"), "new"));
    ck_assert_str_eq(read_whole(path_apart()), "new");
    ck_assert_ptr_null(kept);
    close(theirs);
    *strrchr(path, '.') = '\0';
    ck_assert_int_ge(open_place(), 0);
    ck_assert_str_eq(read_whole("r.jsonl"), "new");
}
END_TEST

static bool is_locked(const char *name)
{
    int fd = open(name, O_RDONLY);
    bool is_it = !sc_file_lock(fd);
    close(fd);
    return is_it;
}

START_TEST(the_file_is_locked_while_it_is_open)
{
    int fd = open_place();
    ck_assert(is_locked("r.jsonl"));
    struct sc_file_identity identity = sc_file_identify(fd);
    pid_t child = fork(); /* whose descriptor is another of the same open file */
    if (child == 0)
        _exit(close(fd));
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert(is_locked("r.jsonl"));
    close(fd);
    ck_assert(!is_locked("r.jsonl"));
    ck_assert_int_ge(sc_place_open_again(path, &identity), 0);
    ck_assert(is_locked("r.jsonl"));
}
END_TEST

static void *drain(void *argument)
{
    int fd = *(int *)argument;
    ssize_t count;
    size_t total = 0;
    while ((count = read(fd, contents, 4096)) > 0)
        total += (size_t)count;
    return (void *)total; // NOLINT
}

START_TEST(a_slow_reader_gets_everything_and_one_that_stopped_is_given_up)
{
    enum { SIZE = 1 << 20 };
    static char bytes[SIZE];
    pthread_t reader;
    void *total;
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    pthread_create(&reader, NULL, drain, &ends[0]);
    ck_assert_int_eq(sc_file_write_within(ends[1], bytes, SIZE, 60000), 0);
    close(ends[1]);
    pthread_join(reader, &total);
    ck_assert_uint_eq((size_t)total, SIZE);

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    ck_assert_int_eq(sc_file_write_within(ends[1], bytes, SIZE, 20), -EAGAIN);
    ck_assert_int_eq(sc_file_write(ends[1], bytes, SIZE), -EAGAIN);
}
END_TEST

static const struct {
    int error;
    const char *words;
} failures[] = {
    {EMLINK, "cannot write the report (a symbolic link is there): /r; hazards are still counted. "
             "Remove it or set SAFECOPY_OPTIONS=report_path=FILE"},
    {EACCES, "cannot write the report (Permission denied): /r; hazards are still counted. "
             "Set SAFECOPY_OPTIONS=report_path=FILE"},
    {EMEDIUMTYPE, "cannot write the report (what is there is no report, or not a whole one): /r; "
                  "hazards are still counted. Move it or set SAFECOPY_OPTIONS=report_path=FILE"},
    {ENOTUNIQ, "cannot write the report (what is there has another name besides): /r; "
               "hazards are still counted. Move it or set SAFECOPY_OPTIONS=report_path=FILE"},
    {ENOSPC, "cannot write the report (No space left on device): /r; hazards are still counted. "
             "Free space there or set SAFECOPY_OPTIONS=report_path=FILE"},
};

START_TEST(a_failure_names_path_and_remedy)
{
    char bytes[512];
    struct sc_text text = sc_text_in(bytes, sizeof bytes);
    sc_place_put_failure(&text, "/r", failures[_i].error);
    ck_assert_str_eq(bytes, failures[_i].words);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("place");
    TCase *group = tcase_create("place");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_add_test(group, a_new_file_is_its_owners_alone);
    tcase_add_test(group, an_older_report_is_replaced);
    tcase_add_test(group, an_older_report_with_another_name_stays);
    tcase_add_loop_test(group, a_report_that_is_cut_stays, 0, (int)sizeof OLD_REPORT - 1);
    tcase_add_loop_test(group, a_report_without_a_summary_is_replaced, 0,
                        (int)(sizeof reports / sizeof reports[0]));
    tcase_add_loop_test(group, a_long_last_line_is_found, 4096 - 3, 4096 + 3);
    tcase_add_loop_test(group, a_long_last_line_is_found, (1 << 20) - 2, (1 << 20) + 3);
    tcase_add_loop_test(group, a_report_without_a_line_is_withdrawn, 0, 2);
    tcase_add_loop_test(group, a_file_that_is_no_report_stays, 0,
                        (int)(sizeof strangers / sizeof strangers[0]));
    tcase_add_test(group, two_files_that_are_no_reports_leave_no_place);
    tcase_add_test(group, a_link_is_not_followed);
    tcase_add_test(group, a_folder_may_be_a_link);
    tcase_add_test(group, a_directory_stays_one);
    tcase_add_test(group, a_fifo_without_a_reader_is_not_waited_for);
    tcase_add_test(group, a_fifo_that_has_another_name_is_somebody_elses);
    tcase_add_test(group, sockets_and_devices_are_not_written_to);
    tcase_add_loop_test(group, a_file_on_stdout_is_written_where_the_program_writes, 0, 3);
    tcase_add_loop_test(group, a_pipe_on_stdout_still_blocks_the_program, 0, 3);
    tcase_add_test(group, a_descriptor_must_be_fit_to_be_written_to);
    tcase_add_test(group, a_number_that_was_not_open_at_the_start_is_the_programs);
    tcase_add_test(group, a_number_that_names_another_file_than_at_the_start_is_the_programs);
    tcase_add_test(group, a_report_of_this_process_goes_on);
    tcase_add_loop_test(group, a_long_command_hides_no_process, 4096 - 8, 4096 + 2);
    tcase_add_test(group, a_report_with_another_name_is_left_alone);
    tcase_add_test(group, a_report_with_another_owner_is_left_alone);
    tcase_add_test(group, only_root_replaces_what_others_own);
    tcase_add_test(group, the_report_of_a_living_process_is_left_alone);
    tcase_add_test(group, the_report_of_a_process_that_has_ended_is_replaced);
    tcase_add_test(group, a_process_lives_whose_first_thread_has_ended);
    tcase_add_test(group, the_report_of_the_parent_is_left_alone);
    tcase_add_test(group, processes_that_come_at_once_all_get_a_file);
    if (stat_is_of_child())
        tcase_add_loop_test(group, who_has_a_name_keeps_it_while_others_come, 0, 20);
    tcase_add_test(group, the_same_file_is_opened_again_and_no_other);
    tcase_add_loop_test(group, a_report_that_is_open_is_left_alone, 0, 2);
    tcase_add_test(group, the_file_is_locked_while_it_is_open);
    tcase_add_test(group, a_slow_reader_gets_everything_and_one_that_stopped_is_given_up);
    tcase_add_loop_test(group, a_failure_names_path_and_remedy, 0,
                        (int)(sizeof failures / sizeof failures[0]));
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
