package scope

import (
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// foreign match the plainest promises to keep off the network in the languages, besides
// English, in which servers are most often described. Other words promise nothing.
var foreign = []*lazyregexp.Regexp{
	// German
	lazyregexp.New(`(?i)\b(?:ohne|keine?|keinen|keinerlei) (?:netzwerk|internet|online)-?(?:zugriffe?|verbindung(?:en)?|zugang|anfragen)\b`),
	lazyregexp.New(`(?i)\b(?:funktioniert|arbeitet|läuft|rein|vollständig|komplett|ausschließlich) (?:vollständig |komplett |rein )?(?:offline|lokal)[ .!]*$`),
	// French
	lazyregexp.New(`(?i)\b(?:sans|aucune?) (?:accès|connexion)(?: (?:au|à|a))? ?(?:l['’])?(?:internet|réseau)`),
	lazyregexp.New(`(?i)\b(?:fonctionne (?:entièrement )?hors ligne|(?:entièrement|purement|totalement|uniquement) (?:locale?|hors ligne))[ .!]*$`),
	// Spanish
	lazyregexp.New(`(?i)\bsin (?:acceso|conexión) a (?:la red|internet)`),
	lazyregexp.New(`(?i)\b(?:funciona sin conexión|(?:totalmente|completamente|puramente) local)[ .!]*$`),
	// Chinese
	lazyregexp.New(`(?:无需|不需要|不|無需|不需要)联网|(?:无需|不需要|不使用|不访问|無需|不使用|不存取)(?:任何)?(?:网络|網路|互联网)|无网络访问|` +
		`(?:完全离线|完全離線|离线)(?:运行|工作|執行|運作)|(?:纯本地|完全本地|完全在本地)(?:运行|处理|执行|计算|工具)`),
	// Japanese
	lazyregexp.New(`オフラインで(?:動作|実行)|完全に(?:オフライン|ローカル)で|(?:ネットワーク|インターネット)(?:接続|アクセス)?(?:は|を|が)?(?:不要|使用しません|必要ありません|行いません)`),
}

// foreignConditions are conditions in those languages.
var foreignConditions = lazyregexp.New(`(?i)\b(?:wenn|falls|sofern|nicht|außer|si|sauf|lorsque|quand|pas|cuando|salvo|excepto|no)\b|如果|若|除非|否则|失败|時|时|なら|場合|とき`)

// foreignPromise finds such a promise; nil where there is none.
func foreignPromise(sentence string) []int {
	if len(sentence) > maxSentence || foreignConditions.MatchString(sentence) {
		return nil
	}
	for _, p := range foreign {
		if at := p.FindStringIndex(sentence); at != nil {
			return at
		}
	}
	return nil
}

// Parts of words that mention a use, for scripts without spaces.
var (
	networkParts = []string{"网络", "網路", "互联网", "網際網路", "网页", "網頁", "网站", "網站", "下载", "下載", "上传", "上傳", "搜索", "搜尋", "天气", "天氣",
		"爬取", "抓取", "联网", "在线", "線上", "邮件", "数据库", "服务器", "远程", "接口",
		"ネットワーク", "インターネット", "ウェブ", "オンライン", "ダウンロード", "アップロード", "検索", "サーバー", "データベース", "メール",
		"네트워크", "인터넷", "웹", "온라인", "다운로드", "업로드", "검색", "날씨", "서버", "데이터베이스", "이메일"}
	subprocessParts = []string{"命令", "执行", "運行", "运行", "终端", "脚本", "コマンド", "実行", "ターミナル", "スクリプト", "명령", "실행"}
	fileParts       = []string{"文件", "檔案", "目录", "目錄", "路径", "文档", "ファイル", "フォルダ", "ディレクトリ", "파일", "폴더"}
)
