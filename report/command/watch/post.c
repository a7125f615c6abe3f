#define _GNU_SOURCE 1
#include "report/command/watch/post.h"

#include "report/version.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_MAX = 64 * 1024, RETRY_MAX_S = 600, CONFIG = 10, BODY = 11, SCRATCH = 20 };

#define BODY_PATH "/dev/fd/11"
#define TIME_LIMIT_S "30"

/* ---- curl ---- */

/* Is it a regular file that may be run? */
static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Finds the program that sends. Returns NULL if there is none. The caller frees it. */
char *sc_post_find_curl(void)
{
    const char *folders = getenv("PATH");
    folders = folders ? folders : "/usr/local/bin:/usr/bin:/bin";
    while (*folders != '\0') {
        size_t length = strcspn(folders, ":");
        char *path = NULL;
        if (length > 0 && asprintf(&path, "%.*s/curl", (int)length, folders) >= 0 &&
            is_program(path))
            return path;
        free(path);
        folders += length + (folders[length] == ':');
    }
    return NULL;
}

/* ---- what it is told ---- */

/* Writes a line of curl's configuration. Control characters in the value are left out, so it
 * cannot begin another line. */
static void put_setting(FILE *out, const char *name, const char *value, size_t size)
{
    fprintf(out, "%s = \"", name);
    for (size_t i = 0; i < size; i++) {
        if (value[i] == '"' || value[i] == '\\')
            fputc('\\', out);
        if ((unsigned char)value[i] >= ' ' && value[i] != 0x7f)
            fputc(value[i], out);
    }
    fputs("\"\n", out);
}

static int digit_of(char letter)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = letter != '\0' ? strchr(digits, letter | 0x20) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* Writes a header given as "NAME=VALUE", where %XX stands for a byte, as "NAME: VALUE". */
static void put_header(FILE *out, const char *pair, size_t size)
{
    char *header = calloc(1, size + 2), *to = header;
    bool is_value = false;
    for (size_t i = 0; header && i < size; i++) {
        int high = pair[i] == '%' && i + 2 < size ? digit_of(pair[i + 1]) : -1;
        int low = high >= 0 ? digit_of(pair[i + 2]) : -1;
        if (low >= 0) {
            *to++ = (char)(16 * high + low);
            i += 2;
        } else if (pair[i] == '=' && !is_value) {
            is_value = true;
            *to++ = ':';
            *to++ = ' ';
        } else {
            *to++ = pair[i];
        }
    }
    if (is_value)
        put_setting(out, "header", header, (size_t)(to - header));
    free(header);
}

/* Writes the headers that the environment asks for, as keys for the server. */
static void put_headers(FILE *out)
{
    const char *pairs = getenv("OTEL_EXPORTER_OTLP_HEADERS");
    while (pairs && *pairs != '\0') {
        pairs += strspn(pairs, " ,");
        size_t length = strcspn(pairs, ",");
        put_header(out, pairs, length);
        pairs += length;
    }
}

/* Writes a setting of curl's that is a path in a variable; nothing if it is not set. */
static void put_file(FILE *out, const char *name, const char *variable)
{
    const char *path = getenv(variable);
    if (path && path[0] != '\0')
        put_setting(out, name, path, strlen(path));
}

/* Writes what curl is to do into a file without a name: its arguments could be seen by all
 * users. */
static bool write_config(int fd, const char *url)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, SCRATCH);
    FILE *out = own >= 0 ? fdopen(own, "w") : NULL;
    if (!out) {
        if (own >= 0)
            close(own);
        return false;
    }
    put_setting(out, "url", url, strlen(url));
    fputs("header = \"Content-Type: application/json\"\nheader = \"Expect:\"\n"
          "user-agent = \"safecopy/" SC_VERSION "\"\ndata-binary = \"@" BODY_PATH "\"\n",
          out);
    put_headers(out);
    put_file(out, "cacert", "OTEL_EXPORTER_OTLP_CERTIFICATE");
    put_file(out, "cert", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE");
    put_file(out, "key", "OTEL_EXPORTER_OTLP_CLIENT_KEY");
    return fclose(out) == 0 && lseek(fd, 0, SEEK_SET) == 0;
}

/* ---- the child ---- */

/* Runs curl in the child. Its descriptors are first put where curl will look for them, by way of
 * numbers that are out of each other's way. */
static _Noreturn void be_curl(const char *curl, const int *files, int alive)
{
    static const int places[] = {CONFIG, BODY, STDOUT_FILENO, STDERR_FILENO};
    static const char *const arguments[] = {
        "curl",        "-q",          "--silent",          "--show-error", "--include",
        "--max-time",  TIME_LIMIT_S,  "--connect-timeout", "10",           "--proto",
        "=http,https", "--write-out", "\n%{http_code}",    "--config",     "/dev/fd/10",
        NULL};
    int empty = open("/dev/null", O_RDONLY);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0); /* Ctrl-C is for the command */
    dup2(empty, STDIN_FILENO);
    fcntl(alive, F_SETFD, 0);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        dup2(files[i], places[i]);
    execv(curl, (char *const *)(uintptr_t)arguments);
    dprintf(STDERR_FILENO, "%s: %s", curl, strerror(errno));
    _exit(127);
}

/* Makes a file in memory, its descriptor above all that the child uses. */
static int make_file(void)
{
    int fd = memfd_create("safecopy", MFD_CLOEXEC);
    int moved = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, SCRATCH) : -1;
    if (fd >= 0)
        close(fd);
    return moved;
}

/* Writes the text into a file that the child will read from its beginning. */
static bool write_all(int fd, const char *text)
{
    size_t size = strlen(text), done = 0;
    while (done < size) {
        ssize_t part = write(fd, text + done, size - done);
        if (part <= 0)
            return false;
        done += (size_t)part;
    }
    return lseek(fd, 0, SEEK_SET) == 0;
}

/* Starts curl. `alive` ends when it does, which can be waited for. */
static bool start(struct sc_post *post, const char *curl, const int *files)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    int alive = fcntl(ends[1], F_DUPFD_CLOEXEC, SCRATCH);
    close(ends[1]);
    post->child = alive >= 0 ? fork() : -1;
    if (post->child == 0)
        be_curl(curl, files, alive);
    if (alive >= 0)
        close(alive);
    post->alive = ends[0];
    if (post->child > 0)
        return true;
    close(ends[0]);
    post->child = 0;
    return false;
}

/* Begins to send a message. Returns false if that fails. */
bool sc_post_begin(struct sc_post *post, const char *curl, const char *url, const char *body)
{
    int files[4];
    bool is_ready = true;
    for (int i = 0; i < 4; i++)
        is_ready = (files[i] = make_file()) >= 0 && is_ready;
    is_ready = is_ready && write_config(files[0], url) && write_all(files[1], body) &&
               start(post, curl, files);
    post->out = files[2];
    post->error = files[3];
    for (int i = 0; i < (is_ready ? 2 : 4); i++)
        if (files[i] >= 0)
            close(files[i]);
    return is_ready;
}

/* Has the child that sends ended? `alive` becomes readable then. */
bool sc_post_is_over(struct sc_post *post)
{
    struct pollfd alive = {.fd = post->alive, .events = POLLIN};
    return poll(&alive, 1, 0) > 0;
}

/* ---- the answer ---- */

/* Returns what the child has written; of a long text the beginning and the end, since the status
 * stands at the end. */
static char *read_text(int fd, size_t *size)
{
    enum { END = 16 };
    char *text = calloc(1, ANSWER_MAX + 1);
    ssize_t part = text ? pread(fd, text, ANSWER_MAX, 0) : -1;
    off_t whole = lseek(fd, 0, SEEK_END);
    if (part == ANSWER_MAX && whole > ANSWER_MAX)
        part = pread(fd, text + ANSWER_MAX - END, END, whole - END) == END ? part : 0;
    *size = part > 0 ? (size_t)part : 0;
    return text;
}

/* Reads Retry-After; -1: it has no seconds (but a date). */
static int seconds_of(const char *text)
{
    char *end;
    long seconds = strtol(text, &end, 10);
    return end == text || seconds < 0 ? -1 : seconds < RETRY_MAX_S ? (int)seconds : RETRY_MAX_S;
}

/* Returns where the answer's body begins. Several headers may come before it ("100 Continue", a
 * proxy's answer); the last one's Retry-After counts. */
static const char *body_of(const char *text, int *retry_after_s)
{
    static const char name[] = "retry-after:";
    while (strncmp(text, "HTTP/", 5) == 0) {
        *retry_after_s = -1;
        for (; *text != '\0' && *text != '\r' && *text != '\n'; text += *text != '\0') {
            if (strncasecmp(text, name, sizeof name - 1) == 0)
                *retry_after_s = seconds_of(text + sizeof name - 1);
            text += strcspn(text, "\n");
        }
        text += strspn(text, "\r");
        text += *text == '\n';
    }
    return text;
}

/* Reads what curl has written: the server's answer, and its status in the last line. */
struct sc_post_answer sc_post_read_answer(const char *text, size_t size)
{
    struct sc_post_answer answer = {.retry_after_s = -1};
    char *copy = strndup(text, size), *last = copy ? strrchr(copy, '\n') : NULL;
    if (last) {
        answer.status = atoi(last + 1);
        *last = '\0';
        answer.words = strdup(body_of(copy, &answer.retry_after_s));
    }
    free(copy);
    return answer;
}

/* Takes the answer when curl has ended. Status 0: there was no answer, and `words` say why. */
struct sc_post_answer sc_post_take(struct sc_post *post)
{
    struct sc_post_answer answer = {.retry_after_s = -1};
    int status = 0;
    size_t size;
    while (waitpid(post->child, &status, 0) < 0 && errno == EINTR)
        continue;
    bool is_whole = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    char *text = read_text(is_whole ? post->out : post->error, &size);
    if (is_whole && text) {
        answer = sc_post_read_answer(text, size);
    } else if (text) {
        text[strcspn(text, "\n")] = '\0';
        answer.words = strdup(text[0] != '\0' ? text : "curl has ended without an answer");
    }
    free(text);
    close(post->alive);
    close(post->out);
    close(post->error);
    *post = (struct sc_post){0};
    return answer;
}

/* Ends the child that sends, if there is one. */
void sc_post_stop(struct sc_post *post)
{
    if (post->child == 0)
        return;
    kill(post->child, SIGKILL);
    free(sc_post_take(post).words);
}
