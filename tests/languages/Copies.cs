// The cases of tests/languages.py, for Mono, by P/Invoke.
using System;
using System.Diagnostics;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

static unsafe class Copies
{
    const int Size = 256 << 10, Small = 64 << 10;
    const int Beside = 256; // the copies leave out so much at the beginning of their pages
    const int Workers = 8, Rounds = 10, Up = 1, Down = 2;

    const string Cuda = "libcudart.so.13", C = "libc.so.6";
    [DllImport(Cuda)] static extern int cudaMallocHost(out IntPtr memory, UIntPtr size);
    [DllImport(Cuda)] static extern int cudaFreeHost(IntPtr memory);
    [DllImport(Cuda)] static extern int cudaHostRegister(IntPtr memory, UIntPtr size, uint flags);
    [DllImport(Cuda)] static extern int cudaHostUnregister(IntPtr memory);
    [DllImport(Cuda)] static extern int cudaMalloc(out IntPtr memory, UIntPtr size);
    [DllImport(Cuda)] static extern int cudaFree(IntPtr memory);
    [DllImport(Cuda)] static extern int cudaStreamCreateWithFlags(out IntPtr stream, uint flags);
    [DllImport(Cuda)] static extern int cudaStreamDestroy(IntPtr stream);
    [DllImport(Cuda)] static extern int cudaStreamSynchronize(IntPtr stream);
    [DllImport(Cuda)] static extern int cudaMemcpyAsync(IntPtr to, IntPtr from, UIntPtr size,
                                                        int kind, IntPtr stream);
    [DllImport(C)] static extern IntPtr malloc(UIntPtr size);
    [DllImport(C)] static extern void free(IntPtr memory);
    [DllImport(C)] static extern int memcmp(IntPtr one, IntPtr other, UIntPtr size);
    [DllImport(C)] static extern IntPtr memset(IntPtr memory, int value, UIntPtr size);
    [DllImport(C)] static extern IntPtr memcpy(IntPtr to, IntPtr from, UIntPtr size);

    static void Check(int code)
    {
        if (code != 0)
            throw new Exception("CUDA error " + code);
    }

    // Pinned memory goes up, and comes down into registered memory.
    class Flight
    {
        public IntPtr Stream, Device, Source, Target;

        public Flight(int seed)
        {
            Check(cudaStreamCreateWithFlags(out Stream, 1));
            Check(cudaMalloc(out Device, (UIntPtr)Size));
            Check(cudaMallocHost(out Source, (UIntPtr)Size));
            Target = malloc((UIntPtr)Size);
            Check(cudaHostRegister(Target, (UIntPtr)Size, 0));
            for (int i = 0; i < Size; i++)
                ((byte*)Source)[i] = (byte)(seed + i * 31);
        }

        public void Copy(IntPtr to, IntPtr from, int size, int kind)
        {
            Check(cudaMemcpyAsync(to, from, (UIntPtr)size, kind, Stream));
        }

        public void Start()
        {
            Copy(Device, Source + Beside, Size - Beside, Up);
            Copy(Target + Beside, Device, Size - Beside, Down);
        }

        public void Await()
        {
            Check(cudaStreamSynchronize(Stream));
        }

        public bool Lands()
        {
            Await();
            return memcmp(Source + Beside, Target + Beside, (UIntPtr)(Size - Beside)) == 0;
        }

        public void End()
        {
            Check(cudaHostUnregister(Target));
            free(Target);
            Check(cudaFreeHost(Source));
            Check(cudaFree(Device));
            Check(cudaStreamDestroy(Stream));
        }
    }

    // Does a thing while a copy is in flight, again and again, in threads with small stacks.
    static bool InFlight(int rounds, Func<Flight, bool> besideIt)
    {
        bool right = true;
        var threads = Enumerable.Range(0, Workers).Select(worker => new Thread(() => {
            for (int round = 0; round < rounds; round++)
            {
                var flight = new Flight(worker + round);
                flight.Start();
                ((byte*)flight.Source)[0] = ((byte*)flight.Target)[0] = 1;
                if (!besideIt(flight) || !flight.Lands())
                    right = false;
                flight.End();
            }
        }, 128 << 10)).ToList();
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        return right;
    }

    static void Litter()
    {
        for (int i = 0; i < 1000; i++)
            GC.KeepAlive(new object[64]);
    }

    static bool Collect()
    {
        return InFlight(Rounds, flight => {
            Litter();
            GC.Collect();
            return true;
        });
    }

    class Box { public int Value = 0; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int ValueOf(Box box)
    {
        return box.Value;
    }

    static bool Null()
    {
        return InFlight(Rounds, flight => {
            try
            {
                return ValueOf(null) == 0;
            }
            catch (NullReferenceException)
            {
                return true;
            }
        });
    }

    static bool Spawn()
    {
        return InFlight(1, flight => {
            var start = new ProcessStartInfo("/bin/echo", "child") {
                RedirectStandardOutput = true, UseShellExecute = false };
            using (var child = Process.Start(start))
                return child.StandardOutput.ReadToEnd() == "child\n";
        });
    }

    static bool Overwrite()
    {
        var flight = new Flight(1);
        flight.Start();
        ((byte*)flight.Source)[Size - 1]++;
        flight.Await();
        ((byte*)flight.Source)[Size - 1]--;
        return flight.Lands();
    }

    class Block
    {
        readonly IntPtr memory;

        public Block(IntPtr memory)
        {
            this.memory = memory;
        }

        ~Block()
        {
            free(memory);
        }
    }

    // The finalizer of what nobody refers to is early.
    static bool Free()
    {
        var flight = new Flight(1);
        IntPtr memory = malloc((UIntPtr)Small);
        Check(cudaHostRegister(memory, (UIntPtr)Small, 0));
        memcpy(memory, flight.Source, (UIntPtr)Small);
        var loser = new Thread(() => new Block(memory)); // nothing of its stack is left to refer to it
        loser.Start();
        loser.Join();
        flight.Copy(flight.Device, memory, Small, Up);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        memset(malloc((UIntPtr)Small), 1, (UIntPtr)Small);
        flight.Copy(flight.Target, flight.Device, Small, Down);
        flight.Await();
        return memcmp(flight.Source, flight.Target, (UIntPtr)Small) == 0;
    }

    static bool Fatal()
    {
        new Flight(1).Start();
        return ValueOf(null) == 0;
    }

    static bool Run(string name)
    {
        switch (name)
        {
            case "copies": return Collect();
            case "null": return Null();
            case "spawn": return Spawn();
            case "overwrite": return Overwrite();
            case "free": return Free();
            case "fatal": return Fatal();
            default: throw new ArgumentException(name);
        }
    }

    static void Main(string[] arguments)
    {
        Console.WriteLine(Run(arguments[0]) ? "data right" : "data wrong");
    }
}
