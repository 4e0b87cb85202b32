// Command waits sleeps for a day in the ways that Go has, and prints how many hours went by
// on the clock and by the date.
package main

import (
	"fmt"
	"time"
)

func main() {
	start, date := time.Now(), time.Now().Unix()
	time.Sleep(6 * time.Hour)
	<-time.After(6 * time.Hour)
	tick := time.NewTicker(2 * time.Hour)
	for range 6 {
		<-tick.C
	}
	fmt.Println(int(time.Since(start).Hours()), (time.Now().Unix()-date)/3600)
}
