;;; The cases of tests/languages.py, for SBCL, whose collector stops all threads by signals.
(declaim (optimize (speed 0) (debug 0)))
(load-shared-object "libcudart.so.13")

(defconstant size (* 256 1024))
(defconstant small (* 64 1024))
(defconstant beside 256) ; the copies leave out so much at the beginning of their pages
(defconstant workers 8)
(defconstant rounds 20)
(defconstant up 1)
(defconstant down 2)

(defmacro call (name &rest types-and-values)
  "A function of C's that gives an int; pointers are addresses."
  (let ((types (loop for (type nil) on types-and-values by #'cddr collect type))
        (values (loop for (nil value) on types-and-values by #'cddr collect value)))
    `(alien-funcall (extern-alien ,name (function int ,@types)) ,@values)))

(defmacro cuda (name &rest types-and-values)
  `(let ((code (call ,name ,@types-and-values)))
     (unless (zerop code) (error "CUDA error ~d" code))))

(defmacro made (name &rest types-and-values)
  "What a function leaves where its first parameter points."
  `(with-alien ((out unsigned-long))
     (cuda ,name (* t) (addr out) ,@types-and-values)
     out))

(defun allocate (bytes)
  (alien-funcall (extern-alien "malloc" (function unsigned-long unsigned-long)) bytes))

(defun release (address)
  (alien-funcall (extern-alien "free" (function void unsigned-long)) address))

(defun fill-with (address byte bytes)
  (call "memset" unsigned-long address int byte unsigned-long bytes))

(defun equal-memory (one other bytes)
  (zerop (call "memcmp" unsigned-long one unsigned-long other unsigned-long bytes)))

(defun byte-at (address) (sb-sys:sap-ref-8 (sb-sys:int-sap address) 0))
(defun (setf byte-at) (byte address)
  (setf (sb-sys:sap-ref-8 (sb-sys:int-sap address) 0) byte))

(defvar *pattern*
  (let ((pattern (allocate size)))
    (dotimes (i size pattern)
      (setf (byte-at (+ pattern i)) (logand 255 (* i 31))))))

(defstruct flight stream device source target)

(defun new-flight ()
  (let ((flight (make-flight
                 :stream (made "cudaStreamCreateWithFlags" unsigned-int 1)
                 :device (made "cudaMalloc" unsigned-long size)
                 :source (made "cudaMallocHost" unsigned-long size)
                 :target (allocate size))))
    (cuda "cudaHostRegister" unsigned-long (flight-target flight) unsigned-long size
          unsigned-int 0)
    (call "memcpy" unsigned-long (flight-source flight) unsigned-long *pattern* unsigned-long size)
    flight))

(defun copy (to from bytes kind flight)
  (cuda "cudaMemcpyAsync" unsigned-long to unsigned-long from unsigned-long bytes int kind
        unsigned-long (flight-stream flight)))

(defun start (flight)
  (let ((bytes (- size beside)))
    (copy (flight-device flight) (+ (flight-source flight) beside) bytes up flight)
    (copy (+ (flight-target flight) beside) (flight-device flight) bytes down flight)))

(defun await (flight)
  (cuda "cudaStreamSynchronize" unsigned-long (flight-stream flight)))

(defun land (flight)
  (await flight)
  (equal-memory (+ (flight-source flight) beside) (+ (flight-target flight) beside)
                (- size beside)))

(defun end (flight)
  (cuda "cudaHostUnregister" unsigned-long (flight-target flight))
  (release (flight-target flight))
  (cuda "cudaFreeHost" unsigned-long (flight-source flight))
  (cuda "cudaFree" unsigned-long (flight-device flight))
  (cuda "cudaStreamDestroy" unsigned-long (flight-stream flight)))

(defun in-flight (beside-it)
  "In threads, again and again: calls the function while a copy is in flight."
  (every #'sb-thread:join-thread
         (loop for worker below workers collect
           (sb-thread:make-thread
            (lambda ()
              (loop repeat rounds
                    for flight = (new-flight)
                    do (start flight)
                       (setf (byte-at (flight-source flight)) 1
                             (byte-at (flight-target flight)) 1)
                    always (funcall beside-it)
                    always (land flight)
                    do (end flight)))))))

(defun litter () (loop repeat 1000 collect (make-array 64)))

(defun copies ()
  (let* ((done nil)
         (collector (sb-thread:make-thread (lambda () (loop until done do (gc) (sleep 0.0003)))))
         (right (in-flight (lambda () (litter) t))))
    (setf done t)
    (sb-thread:join-thread collector)
    right))

(defun fault (address)
  (handler-case (progn (byte-at address) nil)
    (sb-sys:memory-fault-error () t)))

;; In many threads: where several overflow their stacks at a time, SBCL 2.2.9 itself dies now and then.
(defun null-faults ()
  (in-flight (lambda () (fault 8))))

(defun spawn ()
  (in-flight
   (lambda ()
     (string= (with-output-to-string (said)
                (sb-ext:run-program "/bin/echo" '("-n" "child") :output said))
              "child"))))

(defun write-early ()
  (let* ((flight (new-flight))
         (last (+ (flight-source flight) size -1)))
    (start flight)
    (decf (byte-at last))
    (await flight)
    (incf (byte-at last))
    (land flight)))

;; The finalizer of what nobody refers to is early.
(defun lose-block (flight freed)
  (let ((block (allocate small)))
    (cuda "cudaHostRegister" unsigned-long block unsigned-long small unsigned-int 0)
    (call "memcpy" unsigned-long block unsigned-long (flight-source flight) unsigned-long small)
    (copy (flight-device flight) block small up flight)
    (finalize (list block)
              (lambda ()
                (release block)
                (fill-with (allocate small) 1 small)
                (sb-thread:signal-semaphore freed)))
    nil))

(defun free-early ()
  (let ((flight (new-flight))
        (freed (sb-thread:make-semaphore)))
    ;; Nothing of that thread's stack is left to refer to it, once the thread is gone: it may be on its
    ;; way still when it is joined, and its stack is looked at then.
    (sb-thread:join-thread (sb-thread:make-thread #'lose-block :arguments (list flight freed)))
    (loop do (gc :full t)
          until (sb-thread:wait-on-semaphore freed :timeout 0.05))
    (copy (flight-target flight) (flight-device flight) small down flight)
    (await flight)
    (equal-memory (flight-source flight) (flight-target flight) small)))

(defun fatal ()
  (start (new-flight))
  (byte-at 8))

(let* ((name (car (last *posix-argv*)))
       (case (cdr (assoc name `(("copies" . ,#'copies) ("null" . ,#'null-faults)
                                ("spawn" . ,#'spawn)
                                ("overwrite" . ,#'write-early) ("free" . ,#'free-early)
                                ("fatal" . ,#'fatal))
                         :test #'equal))))
  (write-line (if (funcall case) "data right" "data wrong"))
  (finish-output)
  (exit))
