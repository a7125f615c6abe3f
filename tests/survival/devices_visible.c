// expect-exit: 0
// sim: devices=3,visible=1
// needs: multi-gpu
// link: cuda
//
// The first two devices, in either order of CUDA_VISIBLE_DEVICES, by numbers and by UUIDs. What
// the ledger has of each device bears the UUID that the driver has for it, and the same one in
// every order: the program allocates twice as much on the machine's second device.
#include <cuda.h>
#include <sys/wait.h>

#include "include/safecopy.h"
#include "survival.h"

enum { BYTES = 3 << 20, UUID_BYTES = 48, ARGUMENT = 1, LEDGER_BYTES = 1 << 20 };

/* ---- one order, in a process of its own ---- */

static void name_device(char *name, CUdevice device)
{
    CUuuid uuid;
    CHECK(cuDeviceGetUuid(&uuid, device));
    name += sprintf(name, "GPU-");
    for (int i = 0; i < 16; i++)
        name += sprintf(name, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                        (unsigned char)uuid.bytes[i]);
}

/* What the ledger has on the device of this number, under this UUID. */
static long ledger_bytes(const char *ledger, int device, const char *uuid)
{
    char begins[96 + UUID_BYTES];
    snprintf(begins, sizeof begins, "\"device\":%d,\"uuid\":\"%s\"", device, uuid);
    const char *found = strstr(ledger, begins);
    const char *bytes = found ? strstr(found, "\"bytes\":") : NULL;
    return bytes ? atol(bytes + strlen("\"bytes\":")) : -1;
}

static int compare_ledger(char uuids[2][UUID_BYTES], const long *bytes)
{
    static char ledger[LEDGER_BYTES];
    size_t length = safecopy_get_memory(ledger, sizeof ledger);
    if (safecopy_version() == 0) /* without the library */
        return 0;
    for (int i = 0; i < 2; i++) {
        if (length > 0 && ledger_bytes(ledger, i, uuids[i]) == bytes[i])
            continue;
        fprintf(stderr, "not %ld bytes of %s: %s\n", bytes[i], uuids[i], ledger);
        return 1;
    }
    return 0;
}

/* `order` says which of the machine's devices each one is. */
static int one_order(const char *order)
{
    char uuids[2][UUID_BYTES];
    long bytes[2];
    int count = 0;
    CHECK(cudaGetDeviceCount(&count));
    if (count != 2) {
        fprintf(stderr, "%d devices\n", count);
        return 1;
    }
    for (int i = 0; i < 2; i++) {
        void *memory;
        bytes[i] = (order[i] - '0' + 1L) * BYTES;
        CHECK(cudaSetDevice(i));
        CHECK(cudaMalloc(&memory, (size_t)bytes[i]));
        name_device(uuids[i], i);
        printf("%s\n", uuids[i]);
    }
    return compare_ledger(uuids, bytes);
}

/* ---- the orders ---- */

/* Runs this program once more, and has what it prints in `said`. */
static void run(const char *visible, const char *order, char *said, size_t size)
{
    int ends[2];
    CHECK(pipe(ends));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        CHECK(setenv("CUDA_VISIBLE_DEVICES", visible, 1));
        CHECK(dup2(ends[1], STDOUT_FILENO) < 0);
        execl("/proc/self/exe", "devices_visible", order, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *answer = fdopen(ends[0], "r");
    said[answer ? fread(said, 1, size - 1, answer) : 0] = '\0';
    int status = 0;
    CHECK(waitpid(child, &status, 0) != child);
    CHECK(status);
}

static void expect(const char *how, const char *said, const char *wanted)
{
    if (strcmp(said, wanted) != 0) {
        fprintf(stderr, "%s: %s, and not\n%s", how, said, wanted);
        exit(1);
    }
    printf("%s: the same two\n", how);
}

int main(int argc, char **argv)
{
    static char plain[LEDGER_BYTES], said[LEDGER_BYTES];
    char first[UUID_BYTES] = "", second[UUID_BYTES] = "", turned[2 * UUID_BYTES + 2];
    if (argc > ARGUMENT)
        return one_order(argv[ARGUMENT]);
    run("0,1", "01", plain, sizeof plain);
    printf("%s", plain);
    CHECK(sscanf(plain, "%47s %47s", first, second) != 2 || strcmp(first, second) == 0);
    sprintf(turned, "%s\n%s\n", second, first);
    run("1,0", "10", said, sizeof said);
    expect("turned", said, turned);
    sprintf(said, "%s,%s", second, first);
    run(said, "10", said, sizeof said);
    expect("by UUIDs, turned", said, turned);
    sprintf(said, "%s,%s", first, second);
    run(said, "01", said, sizeof said);
    expect("by UUIDs", said, plain);
    return 0;
}
