package sinkhole

import (
	"encoding/json"
	"net/http"
	"strings"
)

// youTube answers for a video with captions; false for requests to other services. Readers of transcripts take the
// player's response from the page, or ask for it with the key in the page, and fetch the captions that it links to.
func youTube(r *http.Request) (content, bool) {
	host := strings.TrimPrefix(r.Host, "www.")
	if host != "youtu.be" && host != "youtube.com" && !strings.HasSuffix(host, ".youtube.com") {
		return content{}, false
	}
	player, _ := json.Marshal(playerResponse(r)) // never fails
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/player"):
		return content{kind: asJSON.kind, body: string(player)}, true
	case path == "/api/timedtext" && strings.HasPrefix(r.URL.Query().Get("fmt"), "json"):
		return content{kind: asJSON.kind, body: `{"events":[{"tStartMs":0,"dDurationMs":1000,"segs":[{"utf8":"note"}]}]}`}, true
	case path == "/api/timedtext":
		return content{kind: asXML.kind, body: `<?xml version="1.0" encoding="utf-8" ?><transcript><text start="0" dur="1">note</text></transcript>`}, true
	case host == "youtu.be" || path == "/watch" || strings.HasPrefix(path, "/embed/") || strings.HasPrefix(path, "/shorts/"):
		return content{kind: asHTML.kind, body: `<!DOCTYPE html><html><head><title>note - YouTube</title></head><body>` +
			`<script>ytcfg.set({"INNERTUBE_API_KEY":"note","INNERTUBE_CLIENT_VERSION":"2.20240101.00.00"});</script>` +
			`<script>var ytInitialPlayerResponse = ` + string(player) + `;</script></body></html>`}, true
	}
	return content{}, false
}

func playerResponse(r *http.Request) any {
	text := func(s string) any { return map[string]any{"simpleText": s, "runs": []any{map[string]any{"text": s}}} }
	return map[string]any{
		"playabilityStatus": map[string]any{"status": "OK"},
		"videoDetails": map[string]any{
			"videoId": "note", "title": "note", "author": "note", "channelId": "note", "lengthSeconds": "1", "viewCount": "1", "shortDescription": "note",
			"keywords": []string{"note"}, "isLiveContent": false, "thumbnail": map[string]any{"thumbnails": []any{map[string]any{"url": address(r, "/vi/note.jpg"), "width": 1, "height": 1}}},
		},
		"microformat": map[string]any{"playerMicroformatRenderer": map[string]any{"title": text("note"), "description": text("note"), "publishDate": moment, "uploadDate": moment, "category": "note"}},
		"captions": map[string]any{"playerCaptionsTracklistRenderer": map[string]any{
			"captionTracks": []any{map[string]any{
				"baseUrl": address(r, "/api/timedtext?v=note&lang=en"), "name": text("English"), "languageCode": "en", "vssId": ".en", "isTranslatable": true,
			}},
			"translationLanguages": []any{map[string]any{"languageCode": "de", "languageName": text("German")}},
		}},
	}
}
