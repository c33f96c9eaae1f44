"""The first module that the fork server imports: until the server is ready, Ctrl-C ends it silently.

Importing the kernels takes seconds, and an interrupted tournament must not wait for that.  Once ready, the server
ignores Ctrl-C.  Do not import this module anywhere else.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
