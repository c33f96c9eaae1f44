"""The first module that the fork server of the bots imports: until the server is ready, Ctrl-C ends it silently.

Importing the kernels takes seconds, for which an interrupted tournament would have to wait.  Once it is ready, the
server ignores Ctrl-C by itself.  Import this module nowhere else.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
