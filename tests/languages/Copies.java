// The cases of tests/languages.py, by JNI (copies_jni.c).
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

class Copies {
    static final int SIZE = 256 << 10, SMALL = 64 << 10;
    static final int BESIDE = 256; // the copies leave out so much at the beginning of their pages
    static final int WORKERS = 8, ROUNDS = 5, UP = 1, DOWN = 2;

    static native long call(String name, long... arguments);
    static native ByteBuffer memory(long address, long size);
    static native long launch(long stream);

    static void cuda(String name, long... arguments) {
        int code = (int) call(name, arguments);
        if (code != 0)
            throw new IllegalStateException(name + ": CUDA error " + code);
    }

    // What a function leaves where its first parameter points.
    static long made(String name, long... rest) {
        long out = call("malloc", 8);
        long[] arguments = new long[rest.length + 1];
        arguments[0] = out;
        System.arraycopy(rest, 0, arguments, 1, rest.length);
        cuda(name, arguments);
        long result = memory(out, 8).order(java.nio.ByteOrder.nativeOrder()).getLong(0);
        call("free", out);
        return result;
    }

    // Pinned memory goes up, and comes down into registered memory.
    static class Flight {
        final long stream = made("cudaStreamCreateWithFlags", 1);
        final long device = made("cudaMalloc", SIZE);
        final long source = made("cudaMallocHost", SIZE);
        final long target = call("malloc", SIZE);
        final ByteBuffer sourceBytes = memory(source, SIZE), targetBytes = memory(target, SIZE);

        Flight(int seed) {
            cuda("cudaHostRegister", target, SIZE, 0);
            for (int i = 0; i < SIZE; i++)
                sourceBytes.put(i, (byte) (seed + i * 31));
        }

        void copy(long to, long from, long size, int kind) {
            cuda("cudaMemcpyAsync", to, from, size, kind, stream);
        }

        void start() {
            copy(device, source + BESIDE, SIZE - BESIDE, UP);
            copy(target + BESIDE, device, SIZE - BESIDE, DOWN);
        }

        void await() {
            cuda("cudaStreamSynchronize", stream);
        }

        boolean lands() {
            await();
            int size = SIZE - BESIDE;
            return sourceBytes.slice(BESIDE, size).equals(targetBytes.slice(BESIDE, size));
        }

        void end() {
            cuda("cudaHostUnregister", target);
            call("free", target);
            cuda("cudaFreeHost", source);
            cuda("cudaFree", device);
            cuda("cudaStreamDestroy", stream);
        }
    }

    interface Beside {
        boolean does(Flight flight) throws Exception;
    }

    // Does a thing while a copy is in flight, again and again in several threads.
    static boolean inFlight(int rounds, Beside beside) throws Exception {
        AtomicInteger right = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int worker = 0; worker < WORKERS; worker++)
            threads.add(new Thread(null, () -> {
                for (int round = 0; round < rounds; round++) {
                    Flight flight = new Flight(round);
                    flight.start();
                    flight.sourceBytes.put(0, (byte) 1);
                    flight.targetBytes.put(0, (byte) 1);
                    try {
                        if (beside.does(flight) && flight.lands())
                            right.incrementAndGet();
                    } catch (Exception exception) {
                        exception.printStackTrace();
                    }
                    flight.end();
                }
            }, "worker", 256 << 10));
        for (Thread thread : threads)
            thread.start();
        for (Thread thread : threads)
            thread.join();
        return right.get() == WORKERS * rounds;
    }

    static int litter() {
        List<Object> garbage = new ArrayList<>();
        for (int i = 0; i < 1000; i++)
            garbage.add(new int[64]);
        return garbage.size();
    }

    static boolean copies() throws Exception {
        return inFlight(ROUNDS, flight -> {
            litter();
            System.gc();
            return true;
        });
    }

    static class Box {
        int value;
    }

    static int valueOf(Box box) {
        return box.value;
    }

    static int endless(int n) {
        return endless(n + 1) + 1;
    }

    static boolean overflows() {
        try {
            return endless(0) == 0;
        } catch (StackOverflowError error) {
            return true;
        }
    }

    // Compiled code finds a null by SIGSEGV.
    static boolean nulls() throws Exception {
        Box box = new Box();
        for (int i = 0; i < 200000; i++)
            valueOf(box);
        return inFlight(ROUNDS, flight -> {
            int thrown = 0;
            for (int i = 0; i < 1000; i++) {
                try {
                    valueOf(i % 10 == 0 ? null : box);
                } catch (NullPointerException exception) {
                    thrown++;
                }
            }
            return thrown == 100 && overflows();
        });
    }

    static final AtomicInteger calls = new AtomicInteger();

    static void called() {
        litter();
        System.gc();
        calls.incrementAndGet();
    }

    static boolean callback() throws Exception {
        boolean right = inFlight(ROUNDS, flight -> launch(flight.stream) == 0);
        return right && calls.get() == WORKERS * ROUNDS;
    }

    static boolean spawn() throws Exception {
        return inFlight(1, flight -> {
            Process child = new ProcessBuilder("echo", "child").start();
            return new String(child.getInputStream().readAllBytes()).equals("child\n");
        });
    }

    static boolean overwrite() {
        Flight flight = new Flight(1);
        flight.start();
        byte was = flight.sourceBytes.get(SIZE - 1);
        flight.sourceBytes.put(SIZE - 1, (byte) (was + 1));
        flight.await();
        flight.sourceBytes.put(SIZE - 1, was);
        return flight.lands();
    }

    // The cleaner of what nobody refers to is early.
    static boolean free() throws Exception {
        Flight flight = new Flight(1);
        long block = call("malloc", SMALL);
        cuda("cudaHostRegister", block, SMALL, 0);
        call("memcpy", block, flight.source, SMALL);
        CountDownLatch freed = new CountDownLatch(1);
        Cleaner.create().register(new Box(), () -> {
            call("free", block);
            freed.countDown();
        });
        flight.copy(flight.device, block, SMALL, UP);
        System.gc();
        freed.await();
        call("memset", call("malloc", SMALL), 1, SMALL);
        flight.copy(flight.target, flight.device, SMALL, DOWN);
        flight.await();
        return flight.sourceBytes.slice(0, SMALL).equals(flight.targetBytes.slice(0, SMALL));
    }

    static boolean fatal() {
        new Flight(1).start();
        return memory(8, 1).get(0) == 0;
    }

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        boolean right = switch (arguments[1]) {
            case "copies" -> copies();
            case "null" -> nulls();
            case "callback" -> callback();
            case "spawn" -> spawn();
            case "overwrite" -> overwrite();
            case "free" -> free();
            case "fatal" -> fatal();
            default -> throw new IllegalArgumentException(arguments[1]);
        };
        System.out.println(right ? "data right" : "data wrong");
    }
}
