/* Sleeps for a day by calls of the kernel that a static program makes, and prints how many
   hours went by on the clock and by the date. */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int main(void) {
	const long hour = 3600;
	struct timespec start, end, until;
	clock_gettime(CLOCK_MONOTONIC, &start);
	time_t date = time(NULL);
	static const struct timespec constant = {4 * 3600, 0};
	nanosleep(&constant, NULL);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 4 * hour;
	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
	poll(NULL, 0, 2 * hour * 1000);
	int ends[2];
	char byte;
	struct timeval patience = {2 * hour, 0};
	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (recv(ends[0], &byte, 1, 0) != -1 || patience.tv_sec != 2 * hour) return 1;
	struct epoll_event event;
	epoll_wait(epoll_create1(0), &event, 1, 4 * hour * 1000);
	for (int absolute = 0; absolute < 2; absolute++) {
		int fd = timerfd_create(CLOCK_MONOTONIC, 0);
		struct itimerspec timer = {.it_value = {4 * hour, 0}};
		if (absolute) {
			clock_gettime(CLOCK_MONOTONIC, &until);
			timer.it_value.tv_sec += until.tv_sec;
		}
		uint64_t times;
		timerfd_settime(fd, absolute ? TFD_TIMER_ABSTIME : 0, &timer, NULL);
		if (read(fd, &times, sizeof times) != sizeof times || constant.tv_sec != 4 * hour) return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%ld %ld\n", (end.tv_sec - start.tv_sec) / hour, (long)(time(NULL) - date) / hour);
	return 0;
}
