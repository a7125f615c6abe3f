(* The cases of tests/languages.py, for OCaml (copies_ml.c). *)
open Bigarray

type bytes = (int, int8_unsigned_elt, c_layout) Array1.t

external call : string -> nativeint array -> nativeint = "ml_call"
external memory : nativeint -> int -> bytes = "ml_memory"
external launch : nativeint -> nativeint = "ml_launch"

let size = 256 lsl 10
let small = 64 lsl 10
let beside = 256 (* the copies leave out so much at the beginning of their pages *)
let workers = 4
let rounds = 10
let up = 1n
let down = 2n
let words = Nativeint.of_int

(* The upper half of an int's register is anything. *)
let check code = if Nativeint.logand code 0xffffffffn <> 0n then failwith "CUDA error"
let cuda name arguments = check (call name arguments)
let allocate bytes = call "malloc" [| words bytes |]
let release address = ignore (call "free" [| address |])

(* What a function leaves where its first parameter points. *)
let made name rest =
  let out = allocate 8 in
  cuda name (Array.append [| out |] rest);
  let bytes = memory out 8 in
  let result = ref 0n in
  for i = 7 downto 0 do
    result := Nativeint.add (Nativeint.shift_left !result 8) (words bytes.{i})
  done;
  release out;
  !result

(* Pinned memory goes up, and comes down into registered memory. *)
type flight = { stream : nativeint; device : nativeint; source : nativeint; target : nativeint }

let new_flight seed =
  let flight =
    { stream = made "cudaStreamCreateWithFlags" [| 1n |];
      device = made "cudaMalloc" [| words size |];
      source = made "cudaMallocHost" [| words size |];
      target = allocate size } in
  cuda "cudaHostRegister" [| flight.target; words size; 0n |];
  let bytes = memory flight.source size in
  for i = 0 to size - 1 do bytes.{i} <- (seed + i * 31) land 255 done;
  flight

let copy flight target source bytes kind =
  cuda "cudaMemcpyAsync" [| target; source; words bytes; kind; flight.stream |]

let start flight =
  let skip address = Nativeint.add address (words beside) in
  copy flight flight.device (skip flight.source) (size - beside) up;
  copy flight (skip flight.target) flight.device (size - beside) down

let await flight = cuda "cudaStreamSynchronize" [| flight.stream |]

let are_equal flight first bytes =
  Array1.sub (memory flight.source size) first bytes
  = Array1.sub (memory flight.target size) first bytes

let lands flight = await flight; are_equal flight beside (size - beside)

let finish flight =
  cuda "cudaHostUnregister" [| flight.target |];
  release flight.target;
  cuda "cudaFreeHost" [| flight.source |];
  cuda "cudaFree" [| flight.device |];
  cuda "cudaStreamDestroy" [| flight.stream |]

let one_in_flight beside_it =
  let flight = new_flight 1 in
  start flight;
  (memory flight.source 1).{0} <- 1;
  (memory flight.target 1).{0} <- 1;
  let right = beside_it flight in
  let right = lands flight && right in
  finish flight;
  right

(* Does a thing while a copy is in flight, again and again in several threads. *)
let in_flight rounds beside_it =
  let wrong = ref 0 in
  let work () =
    for _ = 1 to rounds do if not (one_in_flight beside_it) then incr wrong done in
  let threads = List.init workers (fun _ -> Thread.create work ()) in
  List.iter Thread.join threads;
  !wrong = 0

let litter () = ignore (Sys.opaque_identity (List.init 1000 (fun i -> string_of_int i)))

let copies () = in_flight rounds (fun _ -> litter (); Gc.compact (); true)

let rec endless n = 1 + endless (Sys.opaque_identity (n + 1))

(* The end of the stack is found by SIGSEGV, and in the first thread alone. *)
let throw () =
  one_in_flight (fun _ -> try endless 0 = 0 with Stack_overflow -> true)
  && in_flight rounds (fun _ -> try raise Not_found with Not_found -> true)

let calls = ref 0

let callback () =
  Callback.register "called" (fun () -> litter (); Gc.full_major (); incr calls);
  in_flight rounds (fun flight -> check (launch flight.stream); true)
  && !calls = workers * rounds

let spawn () =
  in_flight 1 (fun _ ->
    let said = Unix.open_process_in "echo child" in
    let line = input_line said in
    Unix.close_process_in said = Unix.WEXITED 0 && line = "child")

let signals () =
  let alarms = ref 0 in
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun _ -> litter (); incr alarms));
  let interval = { Unix.it_interval = 1e-4; it_value = 1e-4 } in
  ignore (Unix.setitimer Unix.ITIMER_REAL interval);
  let right = copies () in
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.; it_value = 0. });
  right && !alarms > 0

let overwrite () =
  let flight = new_flight 1 in
  let bytes = memory flight.source size in
  let was = bytes.{size - 1} in
  start flight;
  bytes.{size - 1} <- was lxor 1;
  await flight;
  bytes.{size - 1} <- was;
  lands flight

(* The finalizer of what nobody refers to is early. *)
let lose_block flight =
  let block = allocate small in
  cuda "cudaHostRegister" [| block; words small; 0n |];
  ignore (call "memcpy" [| block; flight.source; words small |]);
  copy flight flight.device block small up;
  Gc.finalise (fun _ -> release block) (ref 0)

let free () =
  let flight = new_flight 1 in
  lose_block flight;
  Gc.full_major ();
  ignore (call "memset" [| allocate small; 1n; words small |]);
  copy flight flight.target flight.device small down;
  await flight;
  are_equal flight 0 small

let fatal () = start (new_flight 1); (memory 8n 1).{0} = 0

let cases =
  [ "copies", copies; "throw", throw; "callback", callback; "spawn", spawn; "signals", signals;
    "overwrite", overwrite; "free", free; "fatal", fatal ]

let () =
  print_endline (if List.assoc Sys.argv.(1) cases () then "data right" else "data wrong")
