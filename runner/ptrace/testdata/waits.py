# Sleeps for a day in the ways that Python has, and prints how many hours went by on the
# clock and by the date.
import queue, select, subprocess, threading, time

start, date = time.monotonic(), time.time()
time.sleep(4 * 3600)
select.select([], [], [], 4 * 3600)
select.epoll().poll(4 * 3600)
threading.Event().wait(4 * 3600)
threading.Thread(target=lambda: time.sleep(4 * 3600)).run()
subprocess.run(["sleep", "4h"], check=True)
try:
    queue.Queue().get(timeout=60)
except queue.Empty:
    pass
print(int((time.monotonic() - start) / 3600), int((time.time() - date) / 3600))
